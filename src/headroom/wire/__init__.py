"""The Kubernetes wire format: the only code that knows JSON and camelCase."""
