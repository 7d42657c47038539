"""Models of nodes whose older rules the reference implementation of `onnx` does not have: convert them.

It computes most kinds by the rules of the newest operator set alone, and without a word.
"""

from collections.abc import Mapping

import onnx
from onnx import version_converter

from edged.errors import ModelError

# The operator set that gave each kind the rules, defaults or inputs that it still has. The reference has the older
# forms of all kinds that are not here.
SAME_SINCE: Mapping[str, int] = {
    "GridSample": 20,
    "Hardmax": 13,
    "LogSoftmax": 13,
    "Resize": 11,
    "RoiAlign": 16,
    "Softmax": 13,
    "Upsample": 10,
}


def problem_of(kind: str, opset: int) -> str | None:
    """Return what is wrong with a node that would be computed by rules of a later operator set, if it would."""
    since = SAME_SINCE.get(kind, 0)
    return (
        f"is of operator set {opset}, of other rules: export it with {since} or later" if opset < since else None
    )


def in_later_set(model: onnx.ModelProto, kind: str, opset: int) -> onnx.ModelProto:
    """Return a model that means the same in an operator set that the reference implements. Raises ModelError."""
    problem = problem_of(kind, opset)
    if problem is None:
        return model
    try:
        if kind == "Hardmax":  # had the rules of Softmax, which the converter knows
            return _renamed(_converted(_renamed(model, "Hardmax", "Softmax"), kind), "Softmax", "Hardmax")
        return _converted(model, kind)
    except Exception:  # it raises arbitrary exceptions
        raise ModelError(problem) from None


def _converted(model: onnx.ModelProto, kind: str) -> onnx.ModelProto:
    return version_converter.convert_version(model, SAME_SINCE[kind])


def _renamed(model: onnx.ModelProto, old: str, new: str) -> onnx.ModelProto:
    renamed = onnx.ModelProto()
    renamed.CopyFrom(model)
    for node in renamed.graph.node:
        node.op_type = new if node.op_type == old else node.op_type
    return renamed
