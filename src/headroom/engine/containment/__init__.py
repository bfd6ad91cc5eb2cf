"""Keeping one object's trouble to that object."""
