"""Frames of digits for the network `digits`, drawn during its training."""
