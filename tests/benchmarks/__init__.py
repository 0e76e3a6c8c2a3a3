"""Benchmarks, run by hand: ``python -m tests.benchmarks.creation_times`` and ``...inserts``.

They run on SQLite, or on the PostgreSQL of DATABASE_URL, and print Markdown.
"""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
django.setup()
