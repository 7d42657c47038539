"""Choose the range of each tensor such that the mean square error of its 8 bits is least.

Two passes over the pictures: the smallest and largest value of each tensor, then its histogram between them, so
that the memory does not grow with the pictures. Source of the idea: Banner, Nahshan, Soudry, "Post training 4-bit
quantization of convolutional networks for rapid-deployment", 2019 (https://arxiv.org/abs/1810.05723), here by
search in a histogram.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

BINS = 2048
SHARES = tuple(number / 50 for number in range(20, 51))  # of the whole range, that are tried
LEVELS = 255  # steps of a uint8

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Range = tuple[float, float]


def least_error_ranges(
    model: onnx.ModelProto, inputs: Callable[[], Iterable[Mapping[str, Floats]]]
) -> dict[str, Range]:
    """Return the range of each tensor of floats that the nodes of `model` read or write.

    inputs: yields those of each picture, and is called twice.
    """
    from onnxruntime import InferenceSession

    inferred = onnx.shape_inference.infer_shapes(model)
    names = _tensors(inferred)
    session = InferenceSession(with_outputs(inferred, names).SerializeToString())
    every = [*names, *(entry.name for entry in session.get_inputs())]

    def tensors(one: Mapping[str, Floats]) -> dict[str, Floats]:
        return dict(zip(every, [*session.run(names, dict(one)), *one.values()], strict=True))

    bounds: dict[str, Range] = dict.fromkeys(every, (0.0, 0.0))  # 0 is always one of the steps
    for one in inputs():
        for name, values in tensors(one).items():
            low, high = bounds[name]
            bounds[name] = min(low, float(values.min())), max(high, float(values.max()))
    counts = {name: np.zeros(BINS, np.int64) for name in every}
    for one in inputs():
        for name, values in tensors(one).items():
            counts[name] += np.histogram(values, BINS, bounds[name])[0]
    return {name: least_error_range(counts[name], *bounds[name]) for name in every}


def least_error_range(counts: NDArray[np.int64], low: float, high: float) -> Range:
    """Return the part of the range from `low` to `high`, around 0, whose steps have the least mean square error.

    counts: the histogram of the values, in bins of one width.
    """
    edges = np.linspace(low, high, len(counts) + 1)
    values = (edges[1:] + edges[:-1]) / 2
    tried = [(low * share, high * share) for share in SHARES]
    errors = [float(counts @ np.square(_in_steps(values, *ends) - values)) for ends in tried]
    return tried[int(np.argmin(errors))]


def _in_steps(values: Doubles, low: float, high: float) -> Doubles:
    """Return what a uint8 with this range keeps of the values."""
    scale = (high - low) / LEVELS or 1.0
    zero = round(-low / scale)
    return np.asarray((np.clip(np.rint(values / scale) + zero, 0, LEVELS) - zero) * scale)


def _tensors(inferred: onnx.ModelProto) -> list[str]:
    """Return the names of the tensors of floats that nodes write."""
    written = {name for node in inferred.graph.node for name in node.output}
    entries = [*inferred.graph.value_info, *inferred.graph.output]
    floats = (each.name for each in entries if each.type.tensor_type.elem_type == onnx.TensorProto.FLOAT)
    return [name for name in dict.fromkeys(floats) if name in written]


def with_outputs(model: onnx.ModelProto, names: Iterable[str]) -> onnx.ModelProto:
    """Return a copy of the file with these outputs."""
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    del changed.graph.output[:]
    floats = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in names]
    changed.graph.output.extend(floats)
    return changed


def overrides(ranges: Mapping[str, Range]) -> dict[str, list[dict[str, Any]]]:
    """Return the ranges as the tools of onnxruntime take them."""
    return {name: [{"rmin": np.float32(low), "rmax": np.float32(high)}] for name, (low, high) in ranges.items()}
