"""The output formats of `get`, as kubectl has them for `-o`."""
