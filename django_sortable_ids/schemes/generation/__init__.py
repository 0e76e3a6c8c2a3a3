"""New ids: clock, randomness and worker numbers."""
