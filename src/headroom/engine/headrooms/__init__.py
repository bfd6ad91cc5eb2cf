"""Headrooms in the engine: their slots, as holds or as objects, their counts and their status."""
