"""Convert nodes that no kernel computes: the host computes them, by the reference implementation of `onnx`.

A node is refused if its output is not the same each time, or if the size of its output depends on its input,
unless that is constant. A Scan runs another graph, whose tensors from outside become inputs of the node.
"""

from collections.abc import Container, Mapping
from dataclasses import replace

import numpy as np
import onnx
from onnx import checker, defs, helper

from edged.errors import ModelError
from edged.model.from_onnx import host_pools
from edged.model.from_onnx.host_model import HostModel, brief
from edged.model.from_onnx.node import OnnxNode, captured_by
from edged.model.from_onnx.older_sets import problem_of
from edged.model.from_onnx.quantized import integers_of
from edged.model.from_onnx.resize import scales_for_float64
from edged.model.from_onnx.scope import Constant, Scope, Value
from edged.model.from_onnx.tensors import type_name
from edged.model.graph import OnHost

# Kinds that contain a graph, that write tensors of no fixed size, and that are random, with what is wrong.
WITH_GRAPHS = "If Loop SequenceMap"
WITHOUT_GRAPHS = "export the network without it, by tracing and for one size, or fold it with onnxsim"
FIXED = "export the network for one size, with that as a constant"
OF_ANY_SIZE = ("NonMaxSuppression", "NonZero", "Unique")
RANDOM = "Bernoulli Dropout Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike"
REFUSED = {
    **dict.fromkeys(WITH_GRAPHS.split(), f"runs another graph: {WITHOUT_GRAPHS}"),
    **dict.fromkeys(OF_ANY_SIZE, "writes as many values as it finds: cut the network before it"),
    **dict.fromkeys(RANDOM.split(), "is random: export the network for inference"),
}
# Kinds whose inputs, all of them or all but the first, decide the size of the output.
BY_ALL = "BlackmanWindow ConstantOfShape HammingWindow HannWindow MelWeightMatrix Range"
BY_OTHERS = (
    "AffineGrid CenterCropPad Col2Im Compress DFT Expand Pad Reshape Resize STFT Slice Split Squeeze Tile TopK "
    "Unsqueeze Upsample"
)
SIZED_BY_ALL, SIZED_BY_OTHERS = frozenset(BY_ALL.split()), frozenset(BY_OTHERS.split())
SIZED_BY_ONE = {"MaxUnpool": 2, "OneHot": 1}
SCAN_PLACES = ("scan_input_axes", "scan_input_directions", "scan_output_axes", "scan_output_directions")
ALONE = {"CastLike", "Resize", *host_pools.KINDS}  # kinds that the host computes otherwise than the reference
FINITE = {"BatchNormalization", "Conv", "ConvTranspose", "Gemm"}  # kinds whose constants must be finite


def convert(proto: onnx.NodeProto, node: OnnxNode, scope: Scope) -> None:
    """Let the host compute a node, or compute it now if all its inputs are constant. Raises ModelError."""
    proto, node = _in_later_set(proto, node)
    captured = captured_by(proto)
    is_known = all(scope.constant(name) is not None for name in (*node.inputs, *captured) if name)
    if not (is_known and node.kind in OF_ANY_SIZE):
        _check(proto, node)
    if node.kind == "Scan":
        _require_fixed_sizes(proto, node, {name for name in captured if scope.constant(name) is not None})
    values: dict[str, Value] = {}
    constants: dict[str, Constant] = {}
    for index, name in enumerate((*node.inputs, *captured)):
        constant = scope.constant(name) if name else None
        if constant is not None:
            constants[name] = _as_single(node, index, name, constant)
        elif name:
            _require_same_size(node, index, name)
            values[name] = scope.in_order(integers_of(scope, scope.view_of(name)))
    if node.kind in {"Resize", "Upsample"}:
        first = node.input(0)
        dims = constants[first].shape if first in constants else values[first].dims
        constants |= scales_for_float64(node, scope, dims)
    scope.reserve_constant(sum(each.size for each in constants.values()))
    for index, output in enumerate(node.outputs):
        if output:
            _push(proto, node, scope, index, values, constants)


def _in_later_set(proto: onnx.NodeProto, node: OnnxNode) -> tuple[onnx.NodeProto, OnnxNode]:
    """Return a node of a later operator set that means the same, where the reference lacks the node's own.

    Operator set 11 renamed Scatter. That of 19 gave DequantizeLinear further types. Until that of 14 the reference
    mixes the statistics of a BatchNormalization with those of its input.
    """
    if node.kind == "DequantizeLinear":
        return proto, replace(node, opset=max(node.opset, 19))
    if node.kind == "BatchNormalization" and 7 <= node.opset < 14 and node.integer("spatial", 1) == 1:
        later = onnx.NodeProto()
        later.CopyFrom(proto)
        del later.attribute[:]
        later.attribute.extend(each for each in proto.attribute if each.name != "spatial")
        return later, replace(node, opset=14)
    if node.kind != "Scatter" or node.opset >= 11:
        return proto, node
    renamed = onnx.NodeProto()
    renamed.CopyFrom(proto)
    renamed.op_type = "ScatterElements"
    return renamed, replace(node, kind="ScatterElements", opset=11)


def refusal_of(kind: str, opset: int) -> str | None:
    """Return why the host cannot compute a kind of node, if it cannot."""
    if kind in REFUSED:
        return REFUSED[kind]
    if kind == "Scan" and opset < 9:
        return f"is of operator set {opset}; supported is Scan of 9 and later: export it with a newer one"
    is_known = defs.has(kind, opset) or kind == "Constant"
    return None if is_known else f"operator {kind} is unknown in operator set {opset} of ONNX: {_way_out(kind)}"


def _way_out(kind: str) -> str:
    """Return what to do about an operator that its operator set lacks."""
    sets = [
        each.since_version
        for each in defs.get_all_schemas_with_history()
        if (each.domain, each.name) == ("", kind)
    ]
    return (
        f"export the network with one of {min(sets)} or later"
        if sets
        else "export the network without custom ones"
    )


def _check(proto: onnx.NodeProto, node: OnnxNode) -> None:
    """Raise ModelError for a kind that cannot run on the host, and for attributes that it does not have."""
    if problem := refusal_of(node.kind, node.opset):
        raise ModelError(problem)
    if node.kind == "BatchNormalization" and (node.integer("training_mode", 0) or node.declared_outputs > 1):
        raise ModelError("is in training mode: export the network for inference")
    context = checker.C.CheckerContext()
    context.ir_version, context.opset_imports = onnx.IR_VERSION, {"": node.opset}
    try:
        checker.check_node(_closed(proto), context)
    except checker.ValidationError as error:
        raise ModelError(brief(error)) from None


def _closed(proto: onnx.NodeProto) -> onnx.NodeProto:
    """Return a node whose graphs have what they read from outside as inputs: the checker knows no outside."""
    closed = onnx.NodeProto()
    closed.CopyFrom(proto)
    for attribute in (each for each in closed.attribute if each.HasField("g")):
        names = captured_by(onnx.NodeProto(attribute=[attribute]))
        attribute.g.input.extend(onnx.ValueInfoProto(name=name) for name in names)
    return closed


def _decides_size(kind: str, index: int) -> bool:
    """Return whether the values of an input of a kind of node decide the size of its output."""
    by_others = kind in SIZED_BY_OTHERS or kind.startswith("Reduce")
    return kind in SIZED_BY_ALL or (index > 0 and by_others) or index == SIZED_BY_ONE.get(kind)


def _require_same_size(node: OnnxNode, index: int, name: str) -> None:
    if _decides_size(node.kind, index):
        raise ModelError(f"the size of its output depends on the picture, by input {name}: {FIXED}")


def _require_fixed_sizes(proto: onnx.NodeProto, node: OnnxNode, constants: Container[str]) -> None:
    """Raise ModelError for a Scan whose outputs have no fixed size, or that the reference computes otherwise.

    constants: the tensors from outside that are constant.
    """
    for name in SCAN_PLACES:  # the reference implementation reads their maximum only
        if any(node.integers(name) or ()):
            raise ModelError(f"attribute {name} is supported only as 0 for each tensor")
    (body,) = (attribute.g for attribute in proto.attribute if attribute.name == "body")
    own = {tensor.name for tensor in body.initializer}
    for each in body.node:
        where = f"its node {each.name or each.output[0]} ({each.op_type})"
        if each.domain not in {"", "ai.onnx"} or any(attribute.HasField("g") for attribute in each.attribute):
            raise ModelError(f"{where} has a graph of its own or is of another domain: export the network without")
        if problem := refusal_of(each.op_type, node.opset) or problem_of(each.op_type, node.opset):
            raise ModelError(f"{where} {problem}")
        if each.op_type in ALONE:
            raise ModelError(f"{where} is not supported inside a Scan: export the network without it")
        if each.op_type == "Constant":
            own.update(each.output)
        for index, name in enumerate(each.input):
            if _decides_size(each.op_type, index) and name and name not in own and name not in constants:
                raise ModelError(f"{where} writes a size that depends on the picture, by {name}: {FIXED}")


def _as_single(node: OnnxNode, index: int, name: str, constant: Constant) -> Constant:
    """Return a constant with floats in single precision. Raises ModelError for numbers that are not finite."""
    is_quantized = node.kind == "DequantizeLinear" and name == node.input(0)  # int4, float8 and the like
    if constant.dtype.kind in "biu" or is_quantized:
        return constant
    if constant.dtype.kind not in "fV" or not _takes(node, index, constant):  # V: bfloat16, int4, float8 …
        raise ModelError(f"input {name} is of type {constant.dtype}; supported are numbers")
    numbers = constant.astype(np.float32)
    if np.isnan(numbers).any() or (node.kind in FINITE and np.isinf(numbers).any()):
        raise ModelError(f"input {name} holds infinities or NaN, or numbers that float32 does not hold")
    return numbers


def _takes(node: OnnxNode, index: int, constant: Constant) -> bool:
    """Return whether the kind of node takes the type of a constant there; floats of NumPy it may always be."""
    inputs = defs.get_schema(node.kind, node.opset).inputs if constant.dtype.kind == "V" else ()
    name = type_name(helper.np_dtype_to_tensor_dtype(constant.dtype)).lower()
    return not inputs or name == "bfloat16" or f"tensor({name})" in inputs[min(index, len(inputs) - 1)].types


def _push(
    proto: onnx.NodeProto,
    node: OnnxNode,
    scope: Scope,
    index: int,
    values: Mapping[str, Value],
    constants: Mapping[str, Constant],
) -> None:
    """Push the operator of one output; a node of several is computed for each of them."""
    output = node.outputs[index]
    model = HostModel(proto, node, values, constants, output)
    found = model.tried()
    if not values:
        scope.reserve_constant(found.size, output)
        scope.define(output, found)
        return
    has_batch = found.ndim > 1 and found.shape[0] == 1
    shape = found.shape[1:] if has_batch else found.shape
    dtype = "float32" if found.dtype.kind == "f" else str(found.dtype)
    tensors = tuple(value.tensor for value in values.values())
    reads = tuple(value.dims for value in values.values())
    operator = OnHost(output, tensors, output, node.kind, model.serialized, reads, shape or (1,))
    scope.push_seen(operator, Value(output, shape, has_batch=has_batch, dtype=dtype))
