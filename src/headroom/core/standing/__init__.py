"""Standing headrooms: the wish, when it is on, which nodes count, and what its status says."""
