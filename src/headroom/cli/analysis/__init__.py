"""How much headroom is needed: `recommend` from past arrivals, `compare` by simulation."""
