"""Training in float64 NumPy: the reference of all training kernels."""
