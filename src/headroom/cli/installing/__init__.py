"""What `headroom install` and `uninstall` are made of."""
