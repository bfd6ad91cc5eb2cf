"""Verbs that show the page: of a file, of a simulation, of a cluster."""
