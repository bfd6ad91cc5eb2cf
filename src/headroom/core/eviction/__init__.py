"""Pods that give way to a hold or an owner: which ones, and what disruption budgets say."""
