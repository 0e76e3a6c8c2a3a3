"""Access to the database: its catalogue, its locks, its errors, its transactions."""
