"""Draw charts, and the scenes that the synthetic camera shows and `digits` learns from."""
