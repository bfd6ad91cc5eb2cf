"""Fences: keep pods without a claim off a node while they wait for room of its owners."""
