"""Fences: nodes that strangers are kept off, because they wait for what owners will return."""
