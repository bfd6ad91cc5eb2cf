"""PURE. The kube-scheduler's rules as functions: filter, score, preempt."""
