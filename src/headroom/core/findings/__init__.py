"""Problems of a hold or headroom that its author has to fix."""
