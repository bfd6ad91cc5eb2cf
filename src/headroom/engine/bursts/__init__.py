"""Bursts of pods that need preemptible slots, and pods that kube-scheduler has to retry."""
