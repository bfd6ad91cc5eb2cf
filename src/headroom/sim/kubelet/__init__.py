"""The kubelets: their life, their admission check, and what they write into a pod's status."""
