"""Checks everything that could stop a backfill, and writes nothing."""
