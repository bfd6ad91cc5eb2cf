"""The parts of `headroom install` and `uninstall`."""
