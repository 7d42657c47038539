"""What the hub publishes."""
