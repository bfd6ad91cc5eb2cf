"""What people are told about a cluster: pure functions from objects read once to words and rows."""
