"""Every scheme, as data."""
