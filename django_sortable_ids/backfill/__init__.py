"""Gives the rows of an existing table ids of their own creation times, in their own order."""
