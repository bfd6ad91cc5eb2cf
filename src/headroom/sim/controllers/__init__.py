"""The controllers of the embedded cluster, one file each, over a shared work queue."""
