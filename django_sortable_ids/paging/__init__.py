"""Pages of large tables: how many rows there are, and the rows after an id."""
