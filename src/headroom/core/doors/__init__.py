"""What the two doors decide: who gets which hold, and what happens to who gets none."""
