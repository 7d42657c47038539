"""Image classification and object detection for small Linux boards with an OpenCL GPU.

`edged.Model` classifies pictures, or finds objects in them, in a Python program.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from edged.inference.ready_model import ReadyModel as Model

__version__ = "0.1.0"
__all__ = ["Model", "__version__"]


def __getattr__(name: str) -> Any:
    """Load `Model` when it is first used: most programs of edged need none of it."""
    if name != "Model":
        raise AttributeError(f"module 'edged' has no attribute {name!r}")
    from edged.inference.ready_model import ReadyModel

    return ReadyModel
