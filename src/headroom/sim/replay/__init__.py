"""Pods from traces: read and checked before a run, created as virtual time passes."""
