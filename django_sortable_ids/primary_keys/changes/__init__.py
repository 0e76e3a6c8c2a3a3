"""Which keys change, and which columns contain their values: data, for every database."""
