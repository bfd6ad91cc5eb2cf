"""Replay past arrivals against sizes of a Headroom, to compare them."""
