"""The test suites of real projects, with sortable ids as the keys of their models.

    python -m tests.ecosystem.projects oscar --field UUIDv7AutoField --checkouts ~/checkouts
    .ci/engine postgresql15 python -m tests.ecosystem.projects all --checkouts ~/checkouts

Each suite runs once as it is, and once for each field. A test that fails only with the field is a
new failure. ``known.py`` says why each one fails. If it doesn't know one, the status is 1.
"""
