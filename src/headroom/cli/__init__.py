"""The commands, one file each. This is the only package that connects all other packages."""
