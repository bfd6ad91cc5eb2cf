"""What says that workloads will grow, and the shapes that are chosen by it, as JSON."""
