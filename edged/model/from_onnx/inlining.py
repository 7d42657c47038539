"""Functions that a file defines itself: each call becomes the nodes of the function."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import onnx
from onnx import inliner, shape_inference

from edged.errors import ModelError

MAX_DEPTH = 50
Key = tuple[str, str, str]  # domain, name and overload


@dataclass(frozen=True)
class _Size:
    nodes: int
    size: int  # in bytes


@dataclass
class _Sizes:
    """How large the functions of a file become, so that a small file cannot become a huge one."""

    functions: dict[Key, onnx.FunctionProto]
    _found: dict[Key, _Size] = field(default_factory=dict)
    _open: list[Key] = field(default_factory=list)

    @property
    def called(self) -> list[onnx.FunctionProto]:
        """Return the functions that the nodes call so far."""
        return [self.functions[key] for key in self._found]

    def of(self, nodes: Iterable[onnx.NodeProto]) -> _Size:
        """Return the size of nodes with all that they call. Raises ModelError for calls in a circle."""
        sizes = [self._of_node(node) for node in nodes]
        return _Size(sum(each.nodes for each in sizes), sum(each.size for each in sizes))

    def _of_node(self, node: onnx.NodeProto) -> _Size:
        key = (node.domain, node.op_type, node.overload)
        if key not in self.functions:
            return _Size(1, node.ByteSize())
        if key not in self._found:
            if key in self._open or len(self._open) >= MAX_DEPTH:
                raise ModelError(f"its function {node.op_type} calls itself, or {MAX_DEPTH} others in each other")
            self._open.append(key)
            self._found[key] = self.of(_with_inner(self.functions[key].node))
            self._open.pop()
        return self._found[key]


def inlined(model: onnx.ModelProto, max_nodes: int, max_bytes: int) -> onnx.ModelProto:
    """Return the model without functions of its own. Raises ModelError for too many nodes or bytes."""
    if not model.functions:
        return model
    sizes = _Sizes({(each.domain, each.name, each.overload): each for each in model.functions})
    size = sizes.of(_with_inner(model.graph.node))
    if size.nodes > max_nodes or size.size > max_bytes:
        raise ModelError(f"its functions make {size.nodes} nodes of {size.size} bytes; supported are {max_nodes}")
    called = onnx.ModelProto()
    called.CopyFrom(model)
    del called.functions[:]
    called.functions.extend(sizes.called)
    try:
        if {_operator_set(each.opset_import) for each in sizes.called} != {_operator_set(model.opset_import)}:
            called = shape_inference.infer_shapes(called)  # the conversion of operator sets needs the types
        return inliner.inline_local_functions(called, convert_version=True)
    except Exception as error:  # it raises arbitrary exceptions for damaged files
        message = str(error).partition("\n")[0]
        problem = f"its functions cannot be put in place of their calls: {message}"
        raise ModelError(f"{problem}: export the network without functions of its own") from None


def _operator_set(imports: Iterable[onnx.OperatorSetIdProto]) -> int:
    return max((each.version for each in imports if each.domain in {"", "ai.onnx"}), default=0)


def _with_inner(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    """Yield nodes, and those of the graphs among their attributes."""
    for node in nodes:
        yield node
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                yield from _with_inner(graph.node)
