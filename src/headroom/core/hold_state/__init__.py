"""One hold at one moment: the known facts, and its status."""
