"""Scenarios: files in, a run on the embedded cluster, a result document out."""
