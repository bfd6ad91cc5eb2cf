"""One file a verb; the only place where parts are wired together."""
