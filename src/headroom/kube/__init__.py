"""The adapter for real clusters: credentials, HTTP, informers."""
