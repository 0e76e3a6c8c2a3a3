"""What ``manage.py backfill_ids`` reads and prints; the work is done in ``backfill``."""
