"""Some cases of `make fuzz`."""
