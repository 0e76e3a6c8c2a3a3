"""What is asked of a database: its catalogue, its locks, its errors, its transactions."""
