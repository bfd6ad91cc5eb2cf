"""Taking in what the cluster tells."""
