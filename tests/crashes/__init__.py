"""``backfill_ids`` is killed again and again while four processes write, and ends with every row in
order: nothing is lost and nothing is there twice.
"""
