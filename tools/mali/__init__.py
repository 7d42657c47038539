"""Compile a network's kernels for GPUs that are not here: Mesa's compilers for Mali, and what they count."""
