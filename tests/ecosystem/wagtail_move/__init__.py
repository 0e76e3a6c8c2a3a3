"""Moves the keys of the snippets and users of a wagtail site there and back.

`python -m tests.ecosystem.wagtail_move`, with the packages of the tox environment ecosystem-apart,
works on SQLite or on the server of DATABASE_URL. Every page of wagtail's admin that shows a row,
every draft, and what its forms create and change must be as before: with the new keys after
`translate.py` of docs/reference/other-packages.md, and with the old ones again.
"""
