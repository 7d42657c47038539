"""Benchmarks: scripts, no tests. A test never judges a time."""
