"""How fast things are done for one tenant: turns between namespaces, pauses after refusals."""
