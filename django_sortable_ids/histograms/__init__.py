"""Rows by creation time: calendar spans, their counts from the id's index, and their picture."""
