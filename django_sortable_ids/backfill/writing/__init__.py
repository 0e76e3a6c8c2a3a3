"""Writes the ids of rows, batch by batch, in order."""
