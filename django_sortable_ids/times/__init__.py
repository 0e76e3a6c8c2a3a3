"""What the values of a column of creation times mean."""
