"""Quotas: limits on what many objects hold together, their time windows, and their status."""
