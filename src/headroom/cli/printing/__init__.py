"""How `get` prints what it found, in the forms that kubectl has for `-o`."""
