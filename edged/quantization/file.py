"""Change an ONNX file before and after the quantization tools of onnxruntime, which do not do this."""

from collections.abc import Collection

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

HALF, FLOAT = TensorProto.FLOAT16, TensorProto.FLOAT
MOST_STEPS = 2**30  # of a bias: the products have the other half of 32 bits
IN_FLOATS = "_floats"  # the end of the names of constants that layers in floats read
LAYERS = {"Conv", "ConvTranspose", "Gemm", "MatMul"}
AFTER = {  # the scores, up to the output
    "Flatten", "Reshape", "Squeeze", "Unsqueeze", "Identity", "Clip", "Softmax", "LogSoftmax", "Sigmoid", "Exp",
}  # fmt: skip


def as_float32(model: onnx.ModelProto) -> None:
    """Make a file of float16 one of float32: weights, inputs, outputs and conversions."""
    graph = model.graph
    for entry in (*graph.input, *graph.output, *graph.value_info):
        if entry.type.tensor_type.elem_type == HALF:
            entry.type.tensor_type.elem_type = FLOAT
    for tensor in graph.initializer:
        _widen(tensor)
    for attribute in (attribute for node in graph.node for attribute in node.attribute):
        if attribute.name == "to" and attribute.i == HALF:
            attribute.i = FLOAT
        _widen(attribute.t)


def _widen(tensor: TensorProto) -> None:
    if tensor.data_type == HALF:
        values = numpy_helper.to_array(tensor).astype(np.float32)
        tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))


def name_nodes(model: onnx.ModelProto) -> None:
    """Give nodes without a name one, by which they can be left in floats."""
    for number, node in enumerate(model.graph.node):
        node.name = node.name or f"{node.op_type}_{number}"


def last_layers(graph: onnx.GraphProto) -> tuple[list[str], list[str]]:
    """Return the names of the last layers, and of the nodes after them, up to the outputs.

    A detector has several ones, and its decoding after them.
    """
    layers, others = dict[str, None](), dict[str, None]()
    waiting = [output.name for output in graph.output]
    while waiting:
        writer = _writer(graph, waiting.pop())
        if writer is None or writer.name in others:
            continue
        if writer.op_type in LAYERS:
            layers[writer.name] = None
            continue
        others[writer.name] = None
        waiting += writer.input
    return list(layers), list(others)


def with_layers_in_floats(
    quantized: onnx.ModelProto, original: onnx.ModelProto, layers: Collection[str]
) -> onnx.ModelProto:
    """Return a copy of `quantized` where these layers, by the names of their nodes, read and multiply floats.

    quantized: made of `original` by quantizing what layers read alone. Constants of floats get names of their own:
    the tools name a dequantized bias as the bias.
    """
    model = onnx.ModelProto()
    model.CopyFrom(quantized)
    constants = {tensor.name: tensor for tensor in original.graph.initializer}
    inputs = {node.name: node.input for node in original.graph.node if node.name in layers}
    for node in model.graph.node:
        if node.name in inputs:
            node.input[:] = [name + IN_FLOATS if name in constants else name for name in inputs[node.name]]
    for name in sorted({name for names in inputs.values() for name in names if name in constants}):
        constant = model.graph.initializer.add()
        constant.CopyFrom(constants[name])
        constant.name = name + IN_FLOATS
    _remove_unread_nodes(model.graph)
    _remove_unread(model.graph)
    return model


def _remove_unread_nodes(graph: onnx.GraphProto) -> None:
    """Remove nodes that nothing reads, from the last one on."""
    read = {output.name for output in graph.output}
    for node in reversed(list(graph.node)):
        if read.isdisjoint(node.output):
            graph.node.remove(node)
        else:
            read.update(node.input)


def leave_room_for_sums(model: onnx.ModelProto) -> None:
    """Make the scales of outputs whose bias has too many steps coarser, so that 32 bits hold its sums.

    Such an output has hardly any weights but its bias, which the tools make as fine as its weights.
    """
    tensors = {tensor.name: tensor for tensor in model.graph.initializer}
    readers = {node.output[0]: node for node in model.graph.node if node.op_type == "DequantizeLinear"}
    for node in model.graph.node:
        parts = [readers.get(name) for name in node.input[1:3]] if node.op_type in LAYERS else []
        if len(parts) == 2 and parts[0] and parts[1]:
            names = [name for part in parts if part for name in part.input[:2]]
            if all(name in tensors for name in names):
                _make_coarser(*(tensors[name] for name in names))


def _make_coarser(weight: TensorProto, scale: TensorProto, bias: TensorProto, bias_scale: TensorProto) -> None:
    """Divide the steps of the outputs, [outputs, …] and [outputs], whose bias has more than `MOST_STEPS`."""
    steps = numpy_helper.to_array(bias).astype(np.float64)
    factor = np.maximum(np.abs(steps) / MOST_STEPS, 1.0)
    if (factor == 1).all() or numpy_helper.to_array(scale).shape != factor.shape:
        return
    for tensor, divisor in ((weight, factor), (bias, factor)):
        values = numpy_helper.to_array(tensor)
        shape = (-1, *[1] * (values.ndim - 1))
        divided = np.rint(values / divisor.reshape(shape)).astype(values.dtype)
        tensor.CopyFrom(numpy_helper.from_array(divided, tensor.name))
    for tensor in (scale, bias_scale):
        values = numpy_helper.to_array(tensor)
        tensor.CopyFrom(numpy_helper.from_array((values * factor).astype(values.dtype), tensor.name))


def leave_scores_in_floats(model: onnx.ModelProto) -> None:
    """Take the steps off the network's output, and off what lies between the scores and there.

    Steps make scores equal that are not: the first of two classes then wins.
    """
    for output in model.graph.output:
        name = _without_steps(model.graph, output.name)
        while (writer := _writer(model.graph, name)) is not None and writer.op_type in AFTER:
            name = _without_steps(model.graph, writer.input[0])
    _remove_unread(model.graph)


def _remove_unread(graph: onnx.GraphProto) -> None:
    """Remove constants that nothing reads: onnxruntime refuses them in old files."""
    read = {name for node in graph.node for name in node.input} | {output.name for output in graph.output}
    for entries in (graph.initializer, graph.input):
        unread = [each for each in entries if each.name not in read]
        for each in unread:
            entries.remove(each)


def _without_steps(graph: onnx.GraphProto, tensor: str) -> str:
    """Remove what makes steps of a tensor and floats of these, if nothing else reads them. Return the tensor."""
    floats = _writer(graph, tensor)
    steps = _writer(graph, floats.input[0]) if floats and floats.op_type == "DequantizeLinear" else None
    if floats is None or steps is None or steps.op_type != "QuantizeLinear":
        return tensor
    source = _writer(graph, steps.input[0])
    ends = steps.input[0], steps.output[0]
    if source is None or any(sum(end in node.input for node in graph.node) > 1 for end in ends):
        return tensor
    graph.node.remove(steps)
    graph.node.remove(floats)
    source.output[list(source.output).index(steps.input[0])] = tensor
    return tensor


def _writer(graph: onnx.GraphProto, tensor: str) -> onnx.NodeProto | None:
    return next((node for node in graph.node if tensor in node.output), None)
