"""Cut off the end of a detector that chooses among its boxes: edged chooses itself, in one way for all.

YOLOv10 and later, and files that were exported with suppression, end in few rows, or in as many as a picture has
objects. Before that their boxes and scores are tensors like those of other detectors. RT-DETR, D-FINE and DEIM end
so in their own exports, which read the size of the whole picture as a second input: that goes with the end.
"""

from collections.abc import Collection, Mapping, Sequence, Set

import onnx
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, helper

from edged.model.from_onnx.node import captured_by
from edged.model.from_onnx.normalized_input import constants_of, values_of
from edged.model.from_onnx.order import nodes_of
from edged.model.from_onnx.tensors import PICTURES, inputs_of

CHOOSES = frozenset({"NonMaxSuppression", "TopK"})  # a file with neither is left as it is
DEPENDS_ON_VALUES = CHOOSES | {"ArgMax", "Compress", "GatherElements", "GatherND", "NonZero", "Unique"}
WITH_WEIGHTS = frozenset(
    {"Conv", "ConvInteger", "ConvTranspose", "Gemm", "MatMul", "MatMulInteger", "QLinearConv"}
)
BOX = 4  # numbers of a box
MOST_AXES = 8
SLICE_INPUTS, ENDS = 4, 2  # a Slice reads a tensor, begins, ends, axes, and perhaps steps

Shapes = Mapping[str, Sequence[int | str | None]]


def without_choice(model: ModelProto) -> tuple[ModelProto, tuple[str, ...]]:
    """Return the model with what is chosen from as its outputs, and their names; as it is if nothing is chosen."""
    nodes = nodes_of(model.graph)
    if CHOOSES.isdisjoint(node.op_type for node in nodes):
        return model, ()
    shapes = _inferred(model)
    names = _chosen_from(model.graph, nodes, shapes)
    if not names:
        return model, ()
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shapes.get(name)) for name in names]
    return _until(model, nodes, outputs), names


def _until(model: ModelProto, nodes: Sequence[NodeProto], outputs: Sequence[ValueInfoProto]) -> ModelProto:
    """Return the model with these outputs, and the nodes and inputs from which they are computed."""
    needed = _needed(nodes, {entry.name for entry in outputs})
    cut = ModelProto()
    cut.CopyFrom(model)
    del cut.graph.node[:], cut.graph.input[:], cut.graph.output[:]
    cut.graph.node.extend(node for node in model.graph.node if not needed.isdisjoint(node.output))
    cut.graph.input.extend(entry for entry in model.graph.input if entry.name in needed)
    cut.graph.output.extend(outputs)
    return cut


def suppresses(graph: GraphProto) -> bool:
    """Return whether the file drops boxes that overlap with better ones, and does not only take the best."""
    return any(node.op_type == "NonMaxSuppression" for node in nodes_of(graph))


def _chosen_from(graph: GraphProto, nodes: Sequence[NodeProto], shapes: Shapes) -> tuple[str, ...]:
    """Return the last tensors, one of all or boxes and scores, from which the rest of the file chooses.

    None where layers with weights follow.
    """
    empty = _empty_slices(graph, nodes, shapes)
    computed = {name for name in _computed(graph, nodes) if name not in empty and not _is_empty(shapes.get(name))}
    of_sizes = _computed_from(_sizes_of_pictures(graph), nodes)
    nodes = sorted(nodes, key=lambda node: not of_sizes.isdisjoint(_reads(node)))  # those of pictures alone first
    weighted = max(
        (number for number, node in enumerate(nodes) if _is(node, WITH_WEIGHTS, computed)), default=None
    )
    if weighted is None:
        return ()
    choosing = (number for number, node in enumerate(nodes) if _is(node, DEPENDS_ON_VALUES, computed))
    for begin in range(next((number for number in choosing if number > weighted), weighted), weighted, -1):
        crossing = _crossing(nodes, begin, computed, graph)
        if not of_sizes.isdisjoint(crossing):
            continue
        match crossing:
            case (name,):
                return (name,)
            case (first, second) if _may_be_pair(
                shapes.get(first), shapes.get(second)
            ) and second not in _computed_from({first}, nodes[:begin]):
                return first, second
    return ()


def _sizes_of_pictures(graph: GraphProto) -> set[str]:
    """Return the inputs that are no pictures, where one is: a file may read the sizes that these had before."""
    ranks = {entry.name: len(entry.type.tensor_type.shape.dim) for entry in inputs_of(graph)}
    return {name for name, rank in ranks.items() if rank != PICTURES} if PICTURES in ranks.values() else set()


def _needed(nodes: Sequence[NodeProto], names: Collection[str]) -> set[str]:
    """Return the tensors from which these are computed, and themselves."""
    needed = set(names)
    for node in reversed(nodes):
        if not needed.isdisjoint(node.output):
            needed |= _reads(node)
    return needed


def _computed(graph: GraphProto, nodes: Sequence[NodeProto]) -> set[str]:
    """Return the tensors whose values depend on the picture's; its shape does not."""
    return _computed_from({entry.name for entry in inputs_of(graph)}, nodes)


def _computed_from(tensors: Collection[str], nodes: Sequence[NodeProto]) -> set[str]:
    """Return these tensors, and those that depend on their values."""
    computed = set(tensors)
    for node in nodes:
        if node.op_type != "Shape" and not computed.isdisjoint(_reads(node)):
            computed.update(node.output)
    return computed


def _is(node: NodeProto, kinds: Collection[str], computed: Collection[str]) -> bool:
    return node.op_type in kinds and any(name in computed for name in node.input)


def _crossing(nodes: Sequence[NodeProto], begin: int, computed: Set[str], graph: GraphProto) -> tuple[str, ...]:
    """Return the computed tensors that nodes before number `begin` write, and others or nobody read after it.

    Who reads a shape alone, or nothing, computes nothing.
    """
    written = [name for node in nodes[:begin] for name in node.output if name in computed]
    readers = [node for node in nodes[begin:] if not computed.isdisjoint(node.output)]
    read = {name for node in readers for name in _reads(node)} | {entry.name for entry in graph.output}
    return tuple(name for name in written if name in read)


def _reads(node: NodeProto) -> set[str]:
    return {*node.input, *captured_by(node)}


def _inferred(model: ModelProto) -> Shapes:
    """Return the shapes of tensors as far as onnx infers them; names or None for sizes that are open."""
    try:
        inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
    except Exception:  # it raises kinds of its own for damaged files, which are reported when nodes are read
        return {}
    shapes = {}
    for entry in [*inferred.graph.value_info, *inferred.graph.output]:
        if entry.type.tensor_type.HasField("shape"):
            dims = entry.type.tensor_type.shape.dim
            shapes[entry.name] = [
                dim.dim_value if dim.HasField("dim_value") else dim.dim_param or None for dim in dims
            ]
    return {name: shape for name, shape in shapes.items() if shape}  # none where a node's rank is unknown


def _is_empty(shape: Sequence[int | str | None] | None) -> bool:
    """Return whether the rows of a tensor have no values: Ultralytics splits off one beside boxes and scores.

    Another axis of size 0 is one that the file leaves open, as some exporters write it.
    """
    return shape is not None and list(shape[-1:]) == [0]


def _empty_slices(graph: GraphProto, nodes: Sequence[NodeProto], shapes: Shapes) -> set[str]:
    """Return the outputs of slices that begin where their axis ends, however their end is computed.

    So Ultralytics splits off values that a detector does not have, in files with open sizes.
    """
    constants = constants_of(graph)
    slices = [node for node in nodes if node.op_type == "Slice" and len(node.input) >= SLICE_INPUTS]
    return {name for node in slices if _begins_at_the_end(node, shapes, constants) for name in node.output}


def _begins_at_the_end(node: NodeProto, shapes: Shapes, constants: Mapping[str, TensorProto]) -> bool:
    """Return whether a slice that goes forward begins at or beyond the end of an axis of known size."""
    source, begins, axes, *steps = (node.input[number] for number in range(len(node.input)) if number != ENDS)
    if steps and min(values_of(constants.get(steps[0]), MOST_AXES), default=0) < 1:
        return False
    shape = shapes.get(source) or []
    for begin, axis in zip(*(values_of(constants.get(name), MOST_AXES) for name in (begins, axes)), strict=False):
        size = shape[int(axis)] if -len(shape) <= axis < len(shape) else None
        if isinstance(size, int) and begin >= size:
            return True
    return False


def _may_be_pair(one: Sequence[int | str | None] | None, other: Sequence[int | str | None] | None) -> bool:
    """Return whether one of two tensors may be boxes, and the other one have scores for as many anchors."""
    if one is None or other is None:
        return True
    boxes, scores = (one, other) if BOX in one[-2:] else (other, one)
    anchors = [size for size in boxes[-2:] if size != BOX]
    is_open = not all(isinstance(size, int) for size in (*anchors, *scores[-2:]))
    fits = is_open or not set(anchors).isdisjoint(scores[-2:])
    return BOX in boxes[-2:] and len(boxes) == len(scores) and fits
