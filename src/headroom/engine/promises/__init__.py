"""Promises of headrooms: who came, who waited too long, and what follows from that."""
