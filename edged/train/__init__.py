"""Training on the device: through the same kernels that answer frames."""
