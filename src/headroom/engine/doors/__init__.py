"""Owners that come through no door: noticed, and told on the objects that keep room for them."""
