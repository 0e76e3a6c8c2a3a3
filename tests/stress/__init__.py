"""Ids by the million, from threads, processes and forks, while the clock is moved: none is made
twice, and none is less than the one before it in its thread.

For each scheme, processes are forked, each starts threads, and each forks one more process while
its threads run, which starts as many. The clock of each process steps back by milliseconds, by
seconds and by an hour, stands still, and steps forward, all of it several times. Schemes with
worker numbers get one for each process, the forked ones too. A thread compares each id with the one
before and writes it to a file; at the end, ``sort`` counts those that differ.

Run it as ``python -m tests.stress``, with ``--ids`` for more than 5 million of each; it exits with
1 where anything was wrong.
"""
