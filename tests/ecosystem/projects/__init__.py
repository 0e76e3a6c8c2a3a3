"""The own test suites of real projects, with sortable ids as the keys of their models.

    python -m tests.ecosystem.projects oscar --field UUIDv7AutoField --checkouts ~/checkouts
    .ci/engine postgresql15 python -m tests.ecosystem.projects all --checkouts ~/checkouts

Each suite runs once as it is, and once for each field. A test that fails only with the field is a
new failure. ``known.py`` says of each why it fails; one that it doesn't know ends with status 1.
"""
