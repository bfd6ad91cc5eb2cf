"""The objects of other systems, served unchanged: one package for each dialect, as data."""
