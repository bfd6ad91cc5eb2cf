"""Pods that give way to a hold or an owner: which ones, and the role of disruption budgets."""
