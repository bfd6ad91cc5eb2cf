"""The real cluster behind the ports: credentials, HTTP, informers."""
