"""Tickets: holds for a limited time that are objects of their own, requested by annotation."""
