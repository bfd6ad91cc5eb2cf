"""Upper limits for holds: the limits of their namespaces, and quotas of dialects."""
