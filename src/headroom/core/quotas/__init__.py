"""Quotas: limits on what many objects hold together, the hours they change in, what they show."""
