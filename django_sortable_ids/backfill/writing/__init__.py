"""Gives rows their ids, batch by batch, in order."""
