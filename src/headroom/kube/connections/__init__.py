"""What happens on one connection to an API server; `kube.session` decides what is sent on it."""
