"""Limit the errors of one object to that object."""
