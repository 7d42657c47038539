"""Image classification for small Linux boards with an OpenCL GPU."""

__version__ = "0.1.0"
