"""Headrooms: the wanted slots, the schedule, the eligible nodes, and the status."""
