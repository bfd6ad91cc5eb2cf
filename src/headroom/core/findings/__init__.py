"""What is found wrong with a hold or headroom, for its author to mend."""
