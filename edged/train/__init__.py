"""Training on the device, with the kernels that also answer frames."""
