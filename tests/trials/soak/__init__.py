"""Short soaks, and the cameras of the soak."""
