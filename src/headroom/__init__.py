"""Headroom keeps Kubernetes capacity ready and hands it to the pods it was kept for."""

__version__ = "0.1.0"
