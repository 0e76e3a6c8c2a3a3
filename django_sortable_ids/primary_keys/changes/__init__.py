"""The SQL of each database that replaces keys."""
