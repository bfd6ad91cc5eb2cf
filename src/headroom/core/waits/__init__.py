"""How long to wait: after a failure, and before a fact counts."""
