"""Objects from JSON to core values, a module a noun; `wire.decode` is the way in."""
