"""Owners that use no door: detect them, and report them on the objects that keep room for them."""
