"""What the hub and its processes tell while somebody records."""
