"""Architectures of torchvision and timm, exported by PyTorch, beside onnxruntime."""
