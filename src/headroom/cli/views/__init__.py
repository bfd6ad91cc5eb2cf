"""Texts and table rows about a cluster: pure functions over objects that were read once."""
