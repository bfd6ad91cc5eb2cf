"""How much headroom is needed: `recommend` from the past, `compare` by simulation."""
