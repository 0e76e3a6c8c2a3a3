"""Hostile values for every way in: none may end in a crash. See ``test_fuzz`` to repeat one."""
