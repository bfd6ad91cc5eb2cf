"""Sizes that follow what workloads need: utilization, gated pods, capacity buffers."""
