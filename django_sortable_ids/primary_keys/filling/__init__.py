"""Columns and tables with the values that keys get, before they are moved."""
