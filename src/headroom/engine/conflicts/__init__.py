"""Holds on one node and owners in one hold: which pods give way, and which stay apart."""
