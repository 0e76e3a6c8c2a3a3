"""Parameters of a test: that needn't meet in every combination, or be a case each."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import wraps
from itertools import cycle, islice, product
from typing import Any

import pytest
from django.db import connection, transaction


def each_with(first: Sequence[Any], *others: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Every value of the first at least once, and every combination of the others at least once,
    in turn: as many cases as the longer of the two has, and not their product.
    """
    combinations = list(product(*others))
    count = max(len(first), len(combinations))
    pairs = zip(cycle(first), cycle(combinations), strict=False)
    return [(value, *rest) for value, rest in islice(pairs, count)]


@contextmanager
def rolled_back() -> Iterator[None]:
    """What is written is taken back, and an error of the database is one of this block alone."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def in_one_case(names: str | Sequence[str], values: Iterable[Any]) -> Callable[..., Any]:
    """As ``pytest.mark.parametrize``, but all values are one case, whose failure names each value
    that fails: for tests that take less time than a case does. What fixtures there are is shared;
    what a value leaves in the database is taken back where the test has a transaction around it. A
    value may not skip, which would skip those after it.
    """
    arguments = [names] if isinstance(names, str) else [*names]
    cases: list[tuple[str, Sequence[Any]]] = []
    for value in values:
        if hasattr(value, "marks"):  # of pytest.param()
            cases.append((value.id, value.values))
        else:
            cases.append((repr(value), [value] if len(arguments) == 1 else value))

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def case(**fixtures: Any) -> None:
            failed: list[BaseException] = []
            for name, given in cases:
                try:
                    with rolled_back() if connection.in_atomic_block else nullcontext():
                        test(**dict(zip(arguments, given, strict=True)), **fixtures)
                except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:
                    error.add_note(f"of {name}")
                    failed.append(error)
            if failed:
                raise BaseExceptionGroup(f"{len(failed)} of {len(cases)} failed", failed)

        signature = inspect.signature(test)
        left = [each for name, each in signature.parameters.items() if name not in arguments]
        case.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        assert cases, "a test of no values"
        return case

    return decorate
