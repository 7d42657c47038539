"""The cameras, as the hub sees them."""
