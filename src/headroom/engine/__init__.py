"""Deterministic but stateful: what was seen, what is under way, what to do next."""
