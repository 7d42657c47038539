"""The ONNX model that the host runs for one node, tried once, so that its output is known to be of one size."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper, shape_inference

from edged.errors import ModelError
from edged.model.from_onnx import host_pools
from edged.model.from_onnx.host_pools import HostPool, host_pool
from edged.model.from_onnx.node import OnnxNode
from edged.model.from_onnx.older_sets import in_later_set
from edged.model.from_onnx.scope import Constant, Value
from edged.model.graph import Shape
from edged.model.reference_operators import evaluator
from edged.model.shapes import MAX_VALUES

Array = NDArray[Any]
INFERRED_WRONGLY = {"STFT"}  # of real numbers it has half of the frequencies


@dataclass(frozen=True, eq=False)
class HostModel:
    """One output of a node, of computed `values` and `constants`, each by the file's name."""

    proto: onnx.NodeProto
    node: OnnxNode
    values: Mapping[str, Value]
    constants: Mapping[str, Constant]
    output: str

    @cached_property
    def serialized(self) -> bytes:
        """Return a model whose inputs are `values`. Raises ModelError."""
        inputs = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(value.dtype)), value.dims)
            for name, value in self.values.items()
        ]
        weights = [numpy_helper.from_array(np.asarray(each), name) for name, each in self.constants.items()]
        pool, opset = self._pool, self.node.opset
        nodes = pool.nodes if pool else (self.proto,)
        graph = helper.make_graph(nodes, "node", inputs, [onnx.ValueInfoProto(name=self.output)], weights)
        opset = max(opset, host_pools.OPSET) if pool else opset
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
        return bytes(in_later_set(model, self.node.kind, opset).SerializeToString(deterministic=True))

    def tried(self) -> Array:
        """Return what the model writes for zeros.

        Raises ModelError if it cannot, if that is no tensor of numbers, or of another shape than ONNX says.
        """
        expected = self._expected()
        for shape in (
            *(value.dims for value in self.values.values()),
            tuple(size or 1 for size in expected or ()),
        ):
            if math.prod(shape) > MAX_VALUES:
                limit = f"it may hold 1 to {MAX_VALUES} values: export the network for a smaller input"
                raise ModelError(f"needs a tensor of shape {shape}; {limit}")
        found = self._run(np.zeros)
        if not isinstance(found, np.ndarray | np.generic) or found.dtype.kind not in "biuf" or not found.size:
            raise ModelError("writes no tensor of numbers")
        self._require_shape(found.shape, expected)
        return np.asarray(found)

    @cached_property
    def _pool(self) -> HostPool | None:
        """Return what the host computes in place of a pool."""
        if self.node.kind not in host_pools.KINDS:
            return None
        name = self.node.input(0)
        value, constant = self.values.get(name), self.constants.get(name)
        if value is not None:
            return host_pool(self.proto, self.node, value.dims, value.dtype)
        if constant is None:
            raise ModelError("has no input")
        return host_pool(self.proto, self.node, constant.shape, str(constant.dtype))

    def _expected(self) -> Shape | None:
        """Return the shape that ONNX's inference finds, 0 where it finds no size; None where it finds none at all.

        It counts the windows of pools otherwise in older operator sets.
        """
        model = self.serialized
        try:
            inferred = shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
        except Exception as error:
            raise ModelError(f"cannot be computed: {brief(error)}") from None
        if self._pool:
            return self._pool.shape
        if self.node.kind in INFERRED_WRONGLY:
            return None
        (tensor,) = (each.type.tensor_type for each in inferred.graph.output)
        return tuple(dim.dim_value for dim in tensor.shape.dim) if tensor.HasField("shape") else None

    def _require_shape(self, found: Shape, expected: Shape | None) -> None:
        sizes = expected if expected is not None else (0,) * len(found)
        pairs = zip(sizes, found, strict=False)
        if len(sizes) != len(found) or any(size not in {0, other} for size, other in pairs):
            mistake = "by a mistake of the package onnx: export the network without this node"
            raise ModelError(f"would write a tensor of shape {found} in place of {sizes}, {mistake}")
        if not all(sizes) and self.values and self._shape_for_others() not in {found, None}:
            raise ModelError("the size of its output depends on the picture: export the network for one size")

    def _shape_for_others(self) -> Shape | None:
        """Return the shape that the model writes for other numbers than zeros; None if it does not take those."""
        random = np.random.default_rng(0)
        try:
            found = self._run(lambda dims, dtype: random.integers(1, 5, dims).astype(dtype))
        except ModelError:
            return None
        return tuple(np.shape(found))

    def _run(self, numbers: Callable[[Shape, str], Array]) -> Any:
        """Return the output for inputs that `numbers` makes. Raises ModelError."""
        feeds = {name: numbers(value.dims, value.dtype) for name, value in self.values.items()}
        try:
            with np.errstate(all="ignore"):
                outputs: Any = evaluator(self.serialized).run(None, feeds)
        except Exception as error:  # it raises arbitrary exceptions for inputs that do not fit
            raise ModelError(f"cannot be computed: {brief(error)}") from None
        return outputs[0]


def brief(error: Exception) -> str:
    """Return the first line of a message of `onnx`, without the marks of its C++ code."""
    message = str(error).strip() or type(error).__name__
    for mark in ("[ShapeInferenceError] ", "[TypeInferenceError] ", "Inference error(s): "):
        message = message.replace(mark, "")
    return message.splitlines()[0].partition(". ")[0]
