"""Write a network with 8-bit weights and tensors, in QDQ form, by the quantization tools of onnxruntime.

They choose the scales (those of `mse` come from `ranges`) and write the file; this module gives them pictures as
the daemon prepares them. The tools round each weight to its nearest step; here the others of its row make up for
the error, as those of a compressed network do (`compress/codebook.py`); the scales stay. The only module that
imports these tools, an optional dependency.
"""

import contextlib
import io
import logging
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnx
import onnx.version_converter
from numpy.typing import NDArray
from onnx import numpy_helper

from edged.compress.calibration import second_moments
from edged.compress.codebook import rounded_rows
from edged.compress.weights import Values, layer_weights
from edged.errors import ModelError
from edged.model import reference
from edged.model.from_onnx.file import OnnxFile, read_file
from edged.model.from_onnx.tensors import inputs_of
from edged.model.metadata_file import with_properties
from edged.model.model_file import is_compressed
from edged.model.onnx_reader import graph_of
from edged.model.package import Input
from edged.quantization.file import (
    FLOAT,
    HALF,
    LAYERS,
    as_float32,
    leave_room_for_sums,
    leave_scores_in_floats,
    name_nodes,
    with_layers_in_floats,
)
from edged.quantization.ranges import Range, least_error_ranges, overrides
from edged.system.python_packages import install_command

STEPS, SCALE = "_quantized", "_scale"  # the tools append these to the name of a weight
FATAL, WARNING = 4, 2  # log levels of onnxruntime; the second one is its default
MOST = 127  # steps of a weight; its zero point is 0

Floats = NDArray[np.float64]

BY_CHANNEL = 13  # the opset from which on weights have scales by channel
NO_OPTIONS: Mapping[str, object] = {}
QUANTIZED = {"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "QLinearConv", "QLinearMatMul"}
METHODS = {"minmax": "MinMax", "percentile": "Percentile", "entropy": "Entropy", "mse": "MinMax"}  # of the tools


class RoundedWeights:
    """The steps of weights, each rounded once: other layers in floats do not change them.

    weights: by name, [outputs, …]; moments: of what a row multiplies, [inputs, inputs].
    """

    def __init__(self, weights: Mapping[str, Values], moments: Mapping[str, Floats]) -> None:
        self._weights, self._moments = weights, moments
        self._steps: dict[tuple[str, bytes], NDArray[np.int8]] = {}

    def replace_in(self, quantized: onnx.ModelProto) -> None:
        """Replace the steps of each weight that has moments, by the scales of the file."""
        tensors = {tensor.name: tensor for tensor in quantized.graph.initializer}
        for name in self._moments:
            if name + STEPS in tensors:  # else the layer stays in floats
                scale = numpy_helper.to_array(tensors[name + SCALE])
                tensors[name + STEPS].CopyFrom(numpy_helper.from_array(self.steps(name, scale), name + STEPS))

    def steps(self, name: str, scale: NDArray[Any]) -> NDArray[np.int8]:
        """Return a weight in steps of `scale`, one for each output or one for all."""
        key = name, scale.tobytes()
        if key not in self._steps:
            self._steps[key] = _steps(self._weights[name], scale.astype(np.float64), self._moments[name])
        return self._steps[key]


def _steps(values: Values, scale: Floats, moments: Floats) -> NDArray[np.int8]:
    def nearest(column: Floats) -> Floats:
        return np.asarray(np.clip(np.rint(column / scale), -MOST, MOST) * scale, np.float64)

    rounded = rounded_rows(values.reshape(len(values), -1), moments, nearest)
    return np.asarray(np.rint(rounded / scale.reshape(-1, 1)), np.int8).reshape(values.shape)


@dataclass(frozen=True, eq=False)
class Calibration:
    """How a network is quantized. pictures: uint8 RGB [n, height, width, 3], prepared; `method`: of `METHODS`.

    is_detector: what layers read has steps, and nothing else: boxes need finer numbers than the first class does.
    """

    model_input: Input
    pictures: NDArray[np.uint8]
    method: str
    is_detector: bool = False


class Quantizer:
    """Quantizes one file, again and again with other layers left in floats.

    The file is simplified first (`float_model`): batch norm is part of the convolutions there.
    """

    def __init__(self, file: OnnxFile, calibration: Calibration) -> None:
        """Raises ModelError if onnxruntime is missing or does not take the file."""
        self._file, self.calibration = file, calibration
        if inputs_of(file.model.graph)[0].type.tensor_type.elem_type not in (FLOAT, HALF):
            raise ModelError(f"{file.path}: takes no floats: quantize the network that it was converted from")
        if any(node.op_type in QUANTIZED for node in file.model.graph.node):
            raise ModelError(f"{file.path}: is quantized: quantize the network that it was made from")
        self._folder = TemporaryDirectory(prefix="edged-quantize-")
        self._numbers = count()
        path = Path(self._folder.name) / "float.onnx"
        try:
            with self._tools() as tools:
                tools.shape_inference.quant_pre_process(str(self._source()), str(path), skip_symbolic_shape=True)
            model = onnx.load(path)
            name_nodes(model)
            onnx.save(model, path)
            self.float_file = read_file(path)
            self._weights = layer_weights(self.float_file.model, str(file.path))
        except ModelError:
            self.close()
            raise

    def _source(self) -> Path:
        """Return the file with the inputs and outputs that edged reads, whole, decompressed, with float32.

        It is of opset 13 at least, which has scales by channel. The tools copy a model in memory beside external
        data, and follow no links to that.
        """
        is_half = inputs_of(self._file.model.graph)[0].type.tensor_type.elem_type == HALF
        is_old = self._file.opset < BY_CHANNEL
        is_plain = self._file.has_stored_ends and not is_compressed(self._file.path)
        if is_plain and not (is_half or is_old or self._file.external):
            return self._file.path
        model = onnx.ModelProto()
        model.CopyFrom(self._file.model)
        as_float32(model)
        if is_old:
            model = onnx.version_converter.convert_version(model, BY_CHANNEL)
        path = Path(self._folder.name) / "original.onnx"
        path.write_bytes(model.SerializeToString())
        return path

    def quantize(self, in_floats: Collection[str] = ()) -> OnnxFile:
        """Return a quantized file with the metadata of the original; the nodes `in_floats` stay as they are.

        It is there until `close`. Raises ModelError.
        """
        if self.calibration.is_detector:
            model = self.detector(in_floats)
        else:
            model = self._quantized(in_floats)
            leave_scores_in_floats(model)
            self._round(model)
        path = self._next_path()
        path.write_bytes(b"".join(with_properties(model.SerializeToString(), self._file.metadata, frozenset())))
        return read_file(path)

    def detector(self, in_floats: Collection[str]) -> onnx.ModelProto:
        """Return a detector with all layers but these in whole numbers, not written. Raises ModelError."""
        return with_layers_in_floats(self._layers_in_steps, self.float_file.model, in_floats)

    @cached_property
    def _layers_in_steps(self) -> onnx.ModelProto:
        """Return the file with the layers in whole numbers, and all between them in floats."""
        options = {"OpTypesToExcludeOutputQuantization": sorted(LAYERS)}
        model = self._quantized((), sorted(LAYERS), options)
        self._round(model)
        return model

    def _quantized(
        self,
        in_floats: Collection[str],
        kinds: list[str] | None = None,
        options: Mapping[str, object] = NO_OPTIONS,
    ) -> onnx.ModelProto:
        """Return what the tools make of the file. kinds: of the nodes that they quantize; None: of all."""
        path = self._next_path()
        with self._tools() as tools:
            tools.quantize_static(
                *(str(self.float_file.path), str(path), Inputs(self.float_file.model, self.calibration)),
                quant_format=tools.QuantFormat.QDQ,
                op_types_to_quantize=kinds,
                per_channel=True,
                activation_type=tools.QuantType.QUInt8,
                weight_type=tools.QuantType.QInt8,
                nodes_to_exclude=list(in_floats),
                calibrate_method=getattr(tools.CalibrationMethod, METHODS[self.calibration.method]),
                extra_options={"TensorQuantOverrides": overrides(self._ranges), **options},
            )
        return onnx.load(path)

    def _round(self, model: onnx.ModelProto) -> None:
        """Replace the weights of the tools by better ones, and remove the metadata that they add."""
        leave_room_for_sums(model)
        self._rounded.replace_in(model)
        del model.metadata_props[:]

    def _next_path(self) -> Path:
        return Path(self._folder.name) / f"quantized{next(self._numbers)}.onnx"

    @cached_property
    def _rounded(self) -> RoundedWeights:
        """Return the weights by the second moments of what the layers read."""
        model_input = self.calibration.model_input
        graph = graph_of(self.float_file, (model_input.width, model_input.height))
        model, pictures = self.float_file.model, self.calibration.pictures
        return RoundedWeights(self._weights, second_moments(model, self._weights, graph, model_input, pictures))

    @cached_property
    def _ranges(self) -> dict[str, Range]:
        """Return the ranges that the tools do not choose themselves."""
        if self.calibration.method != "mse":
            return {}
        model = self.float_file.model
        return least_error_ranges(model, lambda: Inputs(model, self.calibration))

    def close(self) -> None:
        """Remove the files between."""
        self._folder.cleanup()

    @contextlib.contextmanager
    def _tools(self) -> Iterator[Any]:
        """Import the tools; they print and log much that is of no use here, and raise errors of many kinds."""
        try:
            import onnxruntime
            from onnxruntime import quantization
            from onnxruntime.quantization import shape_inference  # noqa: F401
        except ImportError:
            raise ModelError(f"quantizing needs onnxruntime: {install_command('onnxruntime')}") from None
        logging.disable(logging.ERROR)
        onnxruntime.set_default_logger_severity(FATAL)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                yield quantization
        except Exception as error:
            first = next(iter(str(error).splitlines()), type(error).__name__)
            raise ModelError(f"{self._file.path}: onnxruntime cannot quantize it: {first}") from None
        finally:
            onnxruntime.set_default_logger_severity(WARNING)
            logging.disable(logging.NOTSET)


class Inputs:
    """The pictures as inputs of the file, one after the other, for the tools."""

    def __init__(self, model: onnx.ModelProto, calibration: Calibration) -> None:
        entry = inputs_of(model.graph)[0]
        model_input = calibration.model_input
        dims = [dim.dim_value for dim in entry.type.tensor_type.shape.dim]
        self._name = entry.name
        self._is_last = dims[1:] == [model_input.height, model_input.width, model_input.channels]
        self._rest = iter(calibration.pictures)
        self._model_input = model_input

    def __iter__(self) -> Iterator[dict[str, NDArray[np.float32]]]:
        return iter(self.get_next, None)

    def get_next(self) -> dict[str, NDArray[np.float32]] | None:
        """Return the next input by name; None after the last."""
        picture = next(self._rest, None)
        if picture is None:
            return None
        x = reference.prepare(picture[np.newaxis], self._model_input)
        return {self._name: np.ascontiguousarray(x.transpose(0, 2, 3, 1)) if self._is_last else x}
