"""Problems of a hold or headroom that its author must fix."""
