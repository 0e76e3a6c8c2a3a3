"""The app of the REST and admin tests: a key of every scheme, and everything that points to one."""
