"""The commands ``backfill_ids`` and ``inspect_id``."""
