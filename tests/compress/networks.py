"""Small networks with weights that are worth compressing, and pictures."""

from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

from tests.evaluation.pictures import picture

SIZE, CLASSES = 16, 5


def network(path: Path, *, ir_version: int = 9, dtype: type[np.generic] = np.float32) -> Path:
    """Two convolutions of 432 and 4608 weights, a mean, and a matrix for 5 classes; with metadata of its own."""
    random = np.random.default_rng(7)
    shapes = {"kernel": (16, 3, 3, 3), "second": (32, 16, 3, 3), "matrix": (CLASSES, 32), "bias": (CLASSES,)}
    weights = {name: random.normal(0, 0.3, shape).astype(dtype) for name, shape in shapes.items()}
    nodes = [
        helper.make_node("Conv", ["image", "kernel"], ["a"], name="first", pads=[1, 1, 1, 1], strides=[2, 2]),
        helper.make_node("Relu", ["a"], ["b"], name="relu"),
        helper.make_node("Conv", ["b", "second"], ["c"], name="middle", pads=[1, 1, 1, 1]),
        helper.make_node("GlobalAveragePool", ["c"], ["d"], name="mean"),
        helper.make_node("Flatten", ["d"], ["e"], name="flatten"),
        helper.make_node("Gemm", ["e", "matrix", "bias"], ["scores"], name="last", transB=1),
    ]
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    inputs = [helper.make_tensor_value_info("image", kind, [1, 3, SIZE, SIZE])]
    if ir_version < 4:  # initializers had to be inputs, too
        inputs += [helper.make_tensor_value_info(name, kind, shape) for name, shape in shapes.items()]
    outputs = [helper.make_tensor_value_info("scores", kind, [1, CLASSES])]
    tensors = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    graph = helper.make_graph(nodes, "small", inputs, outputs, tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=ir_version)
    helper.set_model_props(model, {"edged.preprocess": "unit", "author": "somebody"})
    onnx.save(model, str(path))
    return path


def pictures(folder: Path, count: int = 40) -> Path:
    """Pictures of noise without labels; the folder."""
    for seed in range(count):
        picture(folder / f"{seed}.png", seed)
    return folder
