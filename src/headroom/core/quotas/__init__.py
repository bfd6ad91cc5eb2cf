"""Limits on what many objects hold together: of a namespace, and of the quotas of a dialect."""
