"""A burst of pods that find held room in their way, and kube-scheduler, which forgets some."""
