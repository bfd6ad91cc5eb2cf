"""Process what the cluster reports."""
