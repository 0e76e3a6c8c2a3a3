"""``python -m tests.crashes --runs 100``: a line for each run, on the database of DATABASE_URL."""

import argparse
import os
import sys
import time

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
django.setup()

from django.db import connection  # noqa: E402

from django_sortable_ids.models import BackfillRun, SequenceCounter  # noqa: E402
from tests.testapp.models import Order  # noqa: E402

from . import __doc__ as description  # noqa: E402
from .crash import crash  # noqa: E402

FIELDS = ("uuid7", "ulid", "snowflake")


def main(arguments: list[str]) -> int:
    """0 where all is right, else 1."""
    parser = argparse.ArgumentParser(prog="python -m tests.crashes", description=description)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0, help="of the first run")
    options = parser.parse_args(arguments)
    name, failed, kills = connection.settings_dict["NAME"], 0, 0
    connection.creation.create_test_db(verbosity=0, autoclobber=True)
    try:
        for seed in range(options.seed, options.seed + options.runs):
            field, begun = FIELDS[seed % len(FIELDS)], time.monotonic()
            found = crash(field, str(seed))
            kills += found.kills
            failed += bool(found.problems)
            line = f"seed {seed}, {field}: {found.kills} kills, {found.rows:,} rows"
            print(f"{line}, {time.monotonic() - begun:.0f} s", *found.problems, flush=True)
            for model in (Order, BackfillRun, SequenceCounter):
                rows = model.objects.all()
                rows._raw_delete(rows.db)
    finally:
        connection.creation.destroy_test_db(name, verbosity=0)
    print(f"{options.runs} runs with {kills} kills on {connection.display_name}: {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
