"""Scenes with and without a digit, drawn: what the synthetic camera shows and `digits` learns from."""
