"""Quantize a network of floats to 8 bits: calibrated by onnxruntime, judged as a compressed network is."""
