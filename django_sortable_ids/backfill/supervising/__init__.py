"""Runs a plan to its end: who owns it, how fast, what interrupts it, how far it is."""
