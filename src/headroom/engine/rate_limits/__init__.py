"""Limit the speed of work for one tenant: turns between namespaces, pauses after refusals."""
