"""The demo behind its verb: stories, their picture, and the screens that show it."""
