"""Arguments and output of ``manage.py backfill_ids``; ``backfill`` does the work."""
