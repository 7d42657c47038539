"""Networks that end in several ways: the mean of a picture's colours, a matrix, and a tail that makes scores."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import ArrayLike, NDArray
from onnx import TensorProto, helper, numpy_helper

Node = tuple[str, Sequence[str], str] | tuple[str, Sequence[str], str, Mapping[str, Any]]

SIDE = 8
CLASSES = 5
MATRIX = np.random.default_rng(1).normal(0, 0.03, (CLASSES, 3)).astype(np.float32)


def logits(pictures: NDArray[np.uint8], outputs: int = CLASSES) -> NDArray[np.float32]:
    """Return what comes before the tail, [n, outputs], for pictures [n, height, width, 3] without preparation."""
    return np.asarray(pictures.astype(np.float32).mean(axis=(1, 2)) @ MATRIX[:outputs].T)


def network_with(
    path: Path,
    *tail: Node,
    constants: Mapping[str, ArrayLike] | None = None,
    before: int = CLASSES,
    outputs: int = CLASSES,
    metadata: Mapping[str, str] | None = None,
) -> Path:
    """Write a network whose `tail` makes `y` [1, outputs] of the logits `l` [1, before]."""
    nodes = [
        helper.make_node("GlobalAveragePool", ["image"], ["mean"]),
        helper.make_node("Flatten", ["mean"], ["colours"]),
        helper.make_node("Gemm", ["colours", "matrix"], ["l"], transB=1),
        *(helper.make_node(kind, list(reads), [writes], **dict(*more)) for kind, reads, writes, *more in tail),
    ]
    weights = {"matrix": MATRIX[:before], **(constants or {})}
    graph = helper.make_graph(
        nodes,
        "tailed",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, SIDE, SIDE])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, outputs])],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    helper.set_model_props(model, dict(metadata or {}))
    onnx.save(model, str(path))
    return path
