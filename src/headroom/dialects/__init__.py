"""Other systems' own objects, served unchanged: one package a dialect, each a value of data."""
