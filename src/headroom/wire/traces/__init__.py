"""Traces: when pods came, as CSV; read line by line, every bad line told with file and line."""
