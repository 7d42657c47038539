"""Networks learn on every OpenCL device."""

from tests.engine.conftest import device, network_device

__all__ = ["device", "network_device"]
