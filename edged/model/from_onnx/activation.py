"""Convert Relu, Clip and Softmax."""

import numpy as np

from edged.errors import ModelError
from edged.model.from_onnx.node import Node
from edged.model.from_onnx.scope import Scope
from edged.model.graph import Relu, Softmax


def relu(node: Node, scope: Scope) -> None:
    """Convert ReLU, whatever the shape."""
    value = scope.plain(node.input(0))
    scope.push(Relu(node.output, (value.tensor,), node.output), value.shape)


def clip(node: Node, scope: Scope) -> None:
    """Convert Clip(0, ∞), which some exporters write for ReLU; other limits are not supported."""
    low = _bound(node, scope, 1, "min", -np.inf)
    high = _bound(node, scope, 2, "max", np.inf)
    if low != 0 or high < np.finfo(np.float32).max:
        raise ModelError(f"clips to {low} … {high}; supported is 0 … infinity")
    relu(node, scope)


def _bound(node: Node, scope: Scope, index: int, name: str, default: float) -> float:
    if not node.input(index):
        return node.real(name, default)
    constant = scope.constant(node.input(index))
    if constant is None or constant.size != 1:
        raise ModelError(f"input {name} is supported only as a constant")
    return float(constant.reshape(-1)[0].item())


def softmax(node: Node, scope: Scope) -> None:
    """Convert Softmax over features, or over the channels of a 1×1 image.

    Up to operator set 12 it covers all axes from `axis` on.
    """
    shape = scope.plain(node.input(0)).shape
    old = node.opset < 13
    rank = len(shape) + 1
    axis = node.integer("axis", 1 if old else -1) % rank
    if axis != 1 or shape[1:] not in {(), (1, 1)}:
        raise ModelError(
            f"is over axis {axis} of shape (batch, {', '.join(map(str, shape))}); supported is over classes"
        )
    tensor = scope.image(node.input(0)) if len(shape) == 3 else scope.features(node.input(0))
    scope.push(Softmax(node.output, (tensor,), node.output))
