"""Holds beside each other and owners in one hold: who gives way, and who keeps apart."""
