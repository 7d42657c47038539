"""Measure which variant computes an operator fastest on a device, and whether it is correct."""
