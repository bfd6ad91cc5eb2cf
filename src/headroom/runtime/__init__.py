"""The driver: runs the engine against any cluster."""
