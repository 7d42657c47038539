"""Convert an ONNX file to a graph, and find all operators of a file that edged does not read.

Importing this imports `onnx`, which takes 130 ms: do so only for a file.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import onnx
from onnx import NodeProto

from edged.errors import ModelError
from edged.model import onnx_names
from edged.model.from_onnx import (
    activation,
    arithmetic,
    borders,
    by_channel,
    channels,
    constants,
    dense,
    norms,
    on_host,
    pixels,
    qoperator,
    quantized,
    reductions,
    resize,
    selection,
    views,
    window,
)
from edged.model.from_onnx.declared import contradictions, require_declared_weights
from edged.model.from_onnx.ends import input_of, outputs_of
from edged.model.from_onnx.file import OnnxFile, read_file
from edged.model.from_onnx.node import OnnxNode, captured_by, node_of
from edged.model.from_onnx.on_host import OF_ANY_SIZE, refusal_of
from edged.model.from_onnx.order import nodes_of
from edged.model.from_onnx.qoperator import EXPANSIONS, MICROSOFT
from edged.model.from_onnx.scope import HostOnlyError, InvalidNodeError, Scope
from edged.model.from_onnx.tensors import array_of, declared_dims, inputs_of
from edged.model.graph import AveragePool, Graph, MaxPool, NetworkOutput, Pair
from edged.model.model_file import model_stem
from edged.model.shapes import make_graph

log = logging.getLogger(__name__)

OWN_DOMAINS = frozenset({"", "ai.onnx"})

Converter = Callable[[OnnxNode, Scope], None]

# The conversion of each kind of node, and its supported attributes.
CONVERTERS: Mapping[str, tuple[Converter, tuple[str, ...]]] = {
    **dict.fromkeys(onnx_names.ACTIVATIONS, (activation.activate, ())),
    "Add": (by_channel.add, ()),
    "AveragePool": (window.in_one_row(window.average_pool), window.AVERAGE_POOL_ATTRIBUTES),
    "BatchNormalization": (by_channel.batch_norm, ("epsilon", "momentum", "spatial", "training_mode")),
    **dict.fromkeys(onnx_names.REDUCTIONS, (reductions.reduce, reductions.ATTRIBUTES)),
    **dict.fromkeys(reductions.NORMS, (reductions.norm, reductions.ATTRIBUTES)),
    "Cast": (views.cast, ("saturate", "to")),
    "Clip": (activation.clip, ("max", "min")),
    "Concat": (channels.concat, ("axis",)),
    "Conv": (window.in_one_row(window.conv), window.CONV_ATTRIBUTES),
    "ConvTranspose": (pixels.conv_transpose, (*window.CONV_ATTRIBUTES, "output_padding", "output_shape")),
    "DepthToSpace": (pixels.depth_to_space, ("blocksize", "mode")),
    "DequantizeLinear": (quantized.dequantize, ("axis", "block_size", "output_dtype")),
    "Div": (by_channel.divide, ()),
    "Dropout": (views.identity, ("ratio", "seed")),
    "Elu": (activation.activate, ("alpha",)),
    "Expand": (views.expand, ()),
    "Flatten": (views.flatten, ("axis",)),
    "Gather": (channels.gather, ("axis",)),
    "Gelu": (activation.gelu, ("approximate",)),
    "Gemm": (dense.gemm, ("alpha", "beta", "transA", "transB")),
    "GlobalAveragePool": (window.in_one_row(window.global_pool(AveragePool)), ()),
    "GlobalMaxPool": (window.in_one_row(window.global_pool(MaxPool)), ()),
    "GridSample": (pixels.grid_sample, ("align_corners", "mode", "padding_mode")),
    "GroupNormalization": (norms.group_norm, ("epsilon", "num_groups", "stash_type")),
    "HardSigmoid": (activation.activate, ("alpha", "beta")),
    "Identity": (views.identity, ()),
    "InstanceNormalization": (norms.instance_norm, ("epsilon",)),
    "IsNaN": (selection.is_nan, ()),
    "LRN": (channels.local_response_norm, ("alpha", "beta", "bias", "size")),
    "LayerNormalization": (norms.layer_norm, ("axis", "epsilon", "stash_type")),
    "LeakyRelu": (activation.activate, ("alpha",)),
    "LogSoftmax": (activation.softmax, ("axis",)),
    "MatMul": (dense.matmul, ()),
    "Max": (arithmetic.combine, ()),
    "MaxPool": (window.in_one_row(window.max_pool), window.MAX_POOL_ATTRIBUTES),
    "Min": (arithmetic.combine, ()),
    "Mul": (by_channel.multiply, ()),
    "Neg": (by_channel.negate, ()),
    "PRelu": (arithmetic.combine, ()),
    "Pad": (borders.pad, ("mode", "pads", "value")),
    "Pow": (arithmetic.combine, ()),
    "QuantizeLinear": (quantized.quantize, ("axis", "block_size", "output_dtype", "precision", "saturate")),
    "Reshape": (views.reshape, ("allowzero",)),
    "Resize": (resize.resize, resize.ATTRIBUTES),
    "Selu": (activation.activate, ("alpha", "gamma")),
    "Shape": (views.shape, ("end", "start")),
    "Slice": (borders.slice_, ("axes", "ends", "starts")),
    "Softmax": (activation.softmax, ("axis",)),
    "SpaceToDepth": (pixels.space_to_depth, ("blocksize",)),
    "Split": (channels.split, ("axis", "num_outputs", "split")),
    "Squeeze": (views.squeeze, ("axes",)),
    "Sub": (by_channel.subtract, ()),
    "Sum": (by_channel.add, ()),
    "Transpose": (views.transpose, ("perm",)),
    "Unsqueeze": (views.unsqueeze, ("axes",)),
    "Upsample": (resize.resize, ("mode", "scales")),
    "Where": (selection.where, ()),
}


def read_onnx(path: Path, input_size: Pair | None = None) -> Graph:
    """Read the network of a file, without simplification.

    `input_size` (width, height) is for a file that leaves it open.

    Raises ModelError, which names the file, the node, and what is supported.
    """
    return graph_of(read_file(path), input_size)


def graph_of(file: OnnxFile, input_size: Pair | None = None) -> Graph:
    """Convert the content of a file, as `read_onnx` does."""
    return read_network(file, input_size).graph


@dataclass(frozen=True, eq=False)
class ReadNetwork:
    """`outputs`: of the file. `contradictions`: where it declares other shapes than its nodes write."""

    graph: Graph
    outputs: tuple[NetworkOutput, ...]
    contradictions: tuple[str, ...]


def read_network(file: OnnxFile, input_size: Pair | None = None) -> ReadNetwork:
    """Convert the content of a file. Raises ModelError, as `read_onnx` does."""
    with _place(f"{file.path}: input"):
        source, shape = input_of(file, input_size)
        require_declared_weights(file)
        scope = Scope(source, shape, declared_dims(inputs_of(file.model.graph)[0])[0])
    read_nodes(file.model.graph, file.opset, scope, str(file.path))
    with _place(f"{file.path}: output"):
        output, outputs = outputs_of(file, scope)
        if output == source.tensor:
            raise ModelError(f"{output} is the network's input as it is: no layer computes anything")
        graph = make_graph(model_stem(file.path), source.tensor, shape, scope.operators, output)
    with _place(str(file.path)):
        return ReadNetwork(graph, outputs, tuple(contradictions(file, scope)))


def read_nodes(content: onnx.GraphProto, opset: int, scope: Scope, path: str) -> None:
    """Convert a file's constants, and the nodes that its outputs need, into `scope`.

    Raises ModelError, which names file and node.
    """
    for tensor in content.initializer:
        with _place(f"{path}: initializer {tensor.name}"):
            scope.define(tensor.name, array_of(tensor))
    for sparse in content.sparse_initializer:
        raise ModelError(f"{path}: initializer {sparse.values.name}: is sparse; supported are dense weights")
    nodes = nodes_of(content)
    last_reader = {name: proto for proto in nodes for name in (*proto.input, *captured_by(proto))}
    outputs = {entry.name for entry in content.output}
    read = {*last_reader, *outputs}
    scope.writers = {tensor: proto.name or tensor for proto in nodes for tensor in proto.output}
    for proto in nodes:
        name = proto.name or (proto.output[0] if proto.output else "without a name")
        with _place(f"{path}: node {name} ({proto.op_type})"):
            _convert(proto, node_of(proto, opset, read), scope)
        for constant in {*proto.input, *captured_by(proto)} - outputs:
            if last_reader[constant] is proto:
                scope.forget(constant)


@contextmanager
def _place(where: str) -> Iterator[None]:
    """Convert every error of the block to a ModelError with its place, for a message in place of a traceback."""
    try:
        yield
    except ModelError as error:
        raise ModelError(f"{where}: {error}") from None
    except Exception as error:
        log.debug("%s", where, exc_info=True)
        raise ModelError(f"{where}: is damaged: {type(error).__name__}: {error}") from None


def _convert(proto: onnx.NodeProto, node: OnnxNode, scope: Scope) -> None:
    if proto.domain not in OWN_DOMAINS | {qoperator.MICROSOFT}:
        problem = f"operators of {proto.domain} are not supported; supported are ONNX's own"
        raise ModelError(f"{problem}: export it without custom ones")
    checkpoint = scope.checkpoint()
    try:
        if nodes := qoperator.expand(proto, node, scope):
            for each in nodes:
                _convert_as_it_is(each, node_of(each, node.opset, each.output), scope)
            return
    except InvalidNodeError:
        raise
    except ModelError:
        if proto.domain == qoperator.MICROSOFT:
            raise
        scope.restore(checkpoint)
    _convert_as_it_is(proto, node, scope)


def _convert_as_it_is(proto: onnx.NodeProto, node: OnnxNode, scope: Scope) -> None:
    if node.kind == "CastLike":
        proto = views.as_cast(proto, scope)
        node = node_of(proto, node.opset, node.outputs)
    known = [scope.constant(name) for name in node.inputs if name]
    inputs = [value for value in known if value is not None]
    if node.kind == "Constant":
        scope.define(node.output, constants.constant(node))
    elif node.kind in constants.FOLDED and len(inputs) == len(known):
        scope.define(node.output, constants.fold(node, inputs, scope))
    elif node.kind in CONVERTERS and (len(inputs) < len(known) or node.kind == "DequantizeLinear"):
        _convert_or_compute(proto, node, scope)
    else:
        on_host.convert(proto, node, scope)


def _convert_or_compute(proto: onnx.NodeProto, node: OnnxNode, scope: Scope) -> None:
    """Convert a node for kernels, or let the host compute it. Raises ModelError, which says why kernels cannot."""
    convert, attributes = CONVERTERS[node.kind]
    checkpoint = scope.checkpoint()
    try:
        node.allow(attributes)
        if node.kind == "MaxPool" and node.writes_several:
            raise ModelError("writes the places of its values; supported are the values alone")
        convert(node, scope)
    except InvalidNodeError:
        raise
    except ModelError as refusal:
        scope.restore(checkpoint)
        try:
            on_host.convert(proto, node, scope)
        except ModelError as problem:
            log.debug("the host cannot compute it: %s", problem)
            raise (problem if isinstance(refusal, HostOnlyError) else refusal) from None


@dataclass(frozen=True)
class MissingOperator:
    """A kind of operator without support, with its domain if that is not ONNX's own, and its nodes' names."""

    kind: str
    nodes: tuple[str, ...]

    def __str__(self) -> str:
        count = f"{len(self.nodes)} nodes, the first is" if len(self.nodes) > 1 else "node"
        return f"{self.kind} ({count} {self.nodes[0]})"


def missing_operators(file: OnnxFile) -> tuple[MissingOperator, ...]:
    """Return the kinds of operators that are not supported, in the order of their first nodes.

    Supported kinds with unsupported attributes or shapes are not found here: reading the file reports those.
    """
    nodes: dict[str, list[str]] = defaultdict(list)
    for kind, name in _unknown_nodes(file):
        nodes[kind].append(name)
    return tuple(MissingOperator(kind, tuple(names)) for kind, names in nodes.items())


def _unknown_nodes(file: OnnxFile) -> Iterator[tuple[str, str]]:
    """Yield kind and name of each node that neither a kernel nor the host computes, nor one of constants."""
    computed = {entry.name for entry in inputs_of(file.model.graph)}
    for node in nodes_of(file.model.graph):
        if computed.isdisjoint((*node.input, *captured_by(node))) and node.op_type in OF_ANY_SIZE:
            continue
        computed.update(node.output)
        if node.op_type in EXPANSIONS and node.domain in OWN_DOMAINS | {MICROSOFT}:
            continue
        if node.domain not in OWN_DOMAINS:
            yield f"{node.domain}.{node.op_type}", _name_of(node)
        elif node.op_type not in CONVERTERS and refusal_of(node.op_type, file.opset):
            yield node.op_type, _name_of(node)


def _name_of(node: NodeProto) -> str:
    return node.name or (node.output[0] if node.output else "without a name")
