"""Where the time of a row comes from."""
