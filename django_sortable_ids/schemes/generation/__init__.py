"""New ids: time, chance and worker numbers."""
