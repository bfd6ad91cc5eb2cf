"""What sizes of a Headroom would have come to: arrivals of the past, played against policies."""
