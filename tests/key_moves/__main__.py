"""In a database of its own, on the server of DATABASE_URL, or on one that it starts and kills:

python -m tests.key_moves rows --runs 100
python -m tests.key_moves kills --runs 50 --kill-server
"""

import argparse
import os
import random
import sys
from contextlib import ExitStack

import django

from tests.servers import UNAVAILABLE, NoServer, to_kill


def main(arguments: list[str]) -> int:
    """0 where all is right, 69 where there is no server to kill, else 1."""
    options = parsed(arguments)
    with ExitStack() as stack:
        try:
            killed = stack.enter_context(to_kill(is_wanted=options.kill_server))
        except NoServer as error:
            print(error)
            return UNAVAILABLE
        os.environ["DJANGO_SETTINGS_MODULE"] = "tests.key_moves.settings"
        os.environ.setdefault("KEY_MOVES_DATABASE", f"key_moves_{os.getpid()}")
        django.setup()
        from .database import drop

        stack.callback(drop)
        if options.what == "rows":
            from . import random_rows

            random_rows.run(options.runs, 1 if options.seed is None else options.seed)
            print(f"{options.runs} graphs moved there, back, and there again")
            return 0
        from . import kills

        seed = random.randrange(10**6) if options.seed is None else options.seed
        return kills.run(options.runs, seed, killed)


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.key_moves")
    parser.add_argument("what", choices=["rows", "kills"])
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--seed", type=int, help="rows: of the first graph, 1 without it")
    parser.add_argument("--kill-server", action="store_true", help="kills: not those of `migrate`")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
