"""The backward pass of a training step: for each operator the kernels that give the gradients of what it read."""
