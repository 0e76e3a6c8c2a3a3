"""Columns, constraints and migrations of tables that exist."""
