"""Commands that show the dashboard: of a file, of a simulation, of a cluster."""
