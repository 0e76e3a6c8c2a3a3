"""Generators with clocks of the tests' own, and what their ids must be like."""

from dataclasses import replace
from itertools import pairwise

from django_sortable_ids.schemes.clock_and_randomness import Sources
from django_sortable_ids.schemes.generator import Generator
from django_sortable_ids.schemes.layout import Layout

MANY = 20_000
"""More than the 16,384 further ids of one tick, where steps become smaller."""
TINY = Layout(ticks=10, suffixes=4)


def fresh(scheme):
    """The same scheme with a generator that nothing has used."""
    return replace(scheme)


class Pairs(Generator):
    """Says tick and suffix in the place of each number."""

    def next(self):
        return self._layout.split(super().next())

    def take(self, count):
        return list(map(self._layout.split, super().take(count)))


def generator(layout, clock, *, tick_ns=1, worker=None, **sources):
    return Pairs(
        layout, epoch_ns=0, tick_ns=tick_ns, worker=worker, sources=Sources(clock=clock, **sources)
    )


def generator_of(scheme, clock, **sources):
    return Pairs(
        scheme.layout.new,
        epoch_ns=scheme.epoch_ns,
        tick_ns=scheme.tick_ns,
        worker=scheme.worker,
        sources=Sources(clock=clock, **sources),
    )


def take(generator, count):
    return [generator.next() for _ in range(count)]


def increases(items):
    return all(before < after for before, after in pairwise(items))


def decreases(items):
    return all(before > after for before, after in pairwise(items))
