"""Keys of a graph with every kind of reference are moved, with random rows, and under kills."""
