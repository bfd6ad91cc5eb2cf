"""The parts of `headroom demo`: stories, their picture, and the screens that show it."""
