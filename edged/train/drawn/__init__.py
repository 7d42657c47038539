"""Frames of digits for the network `digits`, drawn while it learns from them."""
