"""The workers, as the hub sees them: which are there, which serve, which are lost."""
