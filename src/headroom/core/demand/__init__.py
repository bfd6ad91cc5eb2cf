"""Sizes that follow the demand of workloads: utilization, gated pods, capacity buffers."""
