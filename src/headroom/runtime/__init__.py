"""Thin: drives the engine against any cluster."""
