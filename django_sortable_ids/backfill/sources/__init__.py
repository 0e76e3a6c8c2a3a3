"""Creation times that are in no ``DateTimeField`` of the row itself."""
