"""Runs a plan to its end: its owner, pace, interruptions and progress."""
