"""``python -m tests.stress``: a line for each scheme."""

import argparse
import sys

from django_sortable_ids.schemes import get

from . import __doc__ as description
from .processes import Load, Result, stress

SCHEMES = {
    "uuid6": get("uuid6"),
    "uuid7": get("uuid7"),
    "ulid": get("ulid"),
    "snowflake": get("snowflake"),
    "time64, 100 workers": get("time64", workers=100),
}


def numbers(load: Load, result: Result) -> dict[str, int]:
    """What is printed of a scheme."""
    processes = load.processes + result.forks
    return {
        "ids": result.ids,
        "processes": processes,
        "threads": processes * load.threads,
        "forks": result.forks,
        "clock steps": result.clock_steps,
        "repeats": result.repeats,
        "steps back": result.steps_back,
        "seconds": round(result.seconds),
    }


def main(arguments: list[str]) -> int:
    """0 where all is right, else 1."""
    usual = Load()
    parser = argparse.ArgumentParser(
        prog="python -m tests.stress",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--ids", type=int, default=usual.ids, help="of each scheme")
    parser.add_argument("--processes", type=int, default=usual.processes)
    parser.add_argument("--threads", type=int, default=usual.threads, help="of each process")
    parser.add_argument("--seconds", type=int, default=usual.seconds, help="before one is ended")
    parser.add_argument("--scheme", choices=SCHEMES, action="append", help="all by default")
    options = parser.parse_args(arguments)
    load = Load(options.ids, options.processes, options.threads, options.seconds)
    print(f"{'scheme':20}" + "".join(f"{name:>12}" for name in numbers(load, Result())))
    is_right = True
    for name in options.scheme or SCHEMES:
        result = stress(SCHEMES[name], load)
        line = f"{name:20}" + "".join(f"{n:>12,}" for n in numbers(load, result).values())
        print(line, *result.failures, sep="\n", flush=True)
        is_right &= result.is_right
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
