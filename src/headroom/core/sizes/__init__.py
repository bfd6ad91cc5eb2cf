"""The sizes of a Headroom: one file for each, behind the one protocol in `kind`."""
