"""Pods that end for a hold or an owner: which ones, and the role of disruption budgets."""
