"""The application before it had sortable ids: the tables of migration 0001 and their rows."""
