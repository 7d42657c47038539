"""The workers, as the hub sees them: which are connected, which serve, which are lost."""
