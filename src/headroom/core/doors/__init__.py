"""The decisions at the two doors: which owner gets which hold, and what happens without one."""
