"""A live cluster as the verbs see it: read once, or followed for as long as somebody looks."""
