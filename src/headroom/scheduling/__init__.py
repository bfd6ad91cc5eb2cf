"""kube-scheduler's rules as functions over arrays: filter, score, choose, preempt."""
