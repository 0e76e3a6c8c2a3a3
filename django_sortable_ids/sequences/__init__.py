"""Counters in the database, from which processes reserve blocks of numbers."""
