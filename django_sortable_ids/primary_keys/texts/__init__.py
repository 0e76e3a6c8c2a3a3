"""Columns of texts that contain keys."""
