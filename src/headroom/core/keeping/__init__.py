"""One hold at a moment: what is known of it, and what its status says."""
