"""How long tests wait for what happens at once, on the slowest machine too."""

PATIENCE = 180
"""Seconds after which it is given up: nothing waits so long but what hangs."""
