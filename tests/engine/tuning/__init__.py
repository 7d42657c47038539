"""Tuning, on every OpenCL device that is present."""
