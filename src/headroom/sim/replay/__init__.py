"""Pods made from traces: read and checked before a run, made one moment at a time during it."""
