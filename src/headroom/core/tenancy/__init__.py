"""Tickets: holds that last a while, are objects of their own, and are asked for by annotation."""
