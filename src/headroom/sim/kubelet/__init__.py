"""The kubelets: life cycle of pods, admission check, pod status."""
