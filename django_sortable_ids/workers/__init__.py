"""Worker numbers, which the database leases to processes."""
