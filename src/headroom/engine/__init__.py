"""Deterministic state: observed objects, work in progress, and what to do next."""
