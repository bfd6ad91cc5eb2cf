"""kube-scheduler as an actor: its view of the cluster, its queue, its cycles."""
