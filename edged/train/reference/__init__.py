"""Training in float64 NumPy: the truth that each kernel of training is compared with."""
