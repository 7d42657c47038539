"""edged's training beside PyTorch's on the same processor: `make bench-training`."""
