"""The embedded cluster behind the same ports: in memory, with a virtual clock."""
