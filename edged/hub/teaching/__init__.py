"""Teach new labels while the daemon runs: clients get frames, and a taught version can answer."""
