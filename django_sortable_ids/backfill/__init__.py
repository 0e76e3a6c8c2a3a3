"""Gives the rows of an existing table ids of their creation times, in the order of these times."""
