"""Follow the boxes of a detector over the frames of a camera: the same object keeps its number."""
