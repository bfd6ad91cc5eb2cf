"""Promises of headrooms: which owners arrived, which waited too long, and what follows."""
