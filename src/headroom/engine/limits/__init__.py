"""What holds may have at most: the limits of their namespaces, and quotas of dialects."""
