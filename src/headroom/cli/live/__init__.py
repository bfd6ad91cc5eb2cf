"""Read a live cluster once, or watch it until the user stops."""
