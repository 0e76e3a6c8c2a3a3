"""Every key of real projects, moved by one command, and back.

    python -m tests.ecosystem.projects.moves oscar helpdesk --checkouts ~/checkouts
    .ci/engine postgresql15 python -m tests.ecosystem.projects.moves oscar --suite

A new database gets the project's tables and sample data. The models are edited as
``backfill_ids --primary-key`` prints it, and the migration that it writes is run. Afterwards every
reference has to point to the same content, and the catalogue has to be that of an empty database
with the same migrations. Rows are inserted. The migration is reversed: all rows and the catalogue
have to be what they were. It is run again.

With ``--suite`` the project's own tests run with the edited models and all migrations, and new
failures are classed as by ``tests.ecosystem.projects``. The status is 1 after any difference.
"""
