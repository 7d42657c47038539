"""The engine, on every OpenCL device that is present."""
