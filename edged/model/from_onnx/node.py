"""One node of an ONNX file, with typed access to its attributes."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

from onnx import AttributeProto, GraphProto, NodeProto, TensorProto

from edged.errors import ModelError


@dataclass(frozen=True)
class OnnxNode:
    """A node. Omitted `inputs` are empty strings, and so are `outputs` that nothing reads.

    declared_outputs: how many the file has, read or not. Getters raise ModelError for other types of attributes.
    """

    kind: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, AttributeProto]
    opset: int
    declared_outputs: int

    @property
    def writes_several(self) -> bool:
        """Return whether an output besides the first is read."""
        return any(self.outputs[1:])

    @property
    def output(self) -> str:
        return self.outputs[0]

    def input(self, index: int) -> str:
        """Return the name of the tensor at `index`, empty if it is omitted."""
        return self.inputs[index] if index < len(self.inputs) else ""

    def allow(self, names: Sequence[str]) -> None:
        """Raise ModelError for an attribute that is not in `names`."""
        for name in self.attributes:
            if name not in names:
                supported = ", ".join(names) or "none"
                raise ModelError(f"attribute {name} is not supported; supported attributes are: {supported}")

    def integer(self, name: str, default: int) -> int:
        attribute = self._typed(name, AttributeProto.INT)
        return attribute.i if attribute else default

    def real(self, name: str, default: float) -> float:
        attribute = self._typed(name, AttributeProto.FLOAT)
        return attribute.f if attribute else default

    def reals(self, name: str) -> tuple[float, ...]:
        """Return a list of numbers, empty if it is omitted."""
        attribute = self._typed(name, AttributeProto.FLOATS)
        return tuple(attribute.floats) if attribute else ()

    def text(self, name: str, default: str) -> str:
        attribute = self._typed(name, AttributeProto.STRING)
        return attribute.s.decode("utf-8", "replace") if attribute else default

    def integers(self, name: str) -> tuple[int, ...] | None:
        attribute = self._typed(name, AttributeProto.INTS)
        return tuple(attribute.ints) if attribute else None

    def tensor(self, name: str) -> TensorProto | None:
        attribute = self._typed(name, AttributeProto.TENSOR)
        return attribute.t if attribute else None

    def _typed(self, name: str, kind: AttributeProto.AttributeType) -> AttributeProto | None:
        attribute = self.attributes.get(name)
        if attribute is not None and attribute.type != kind:
            raise ModelError(f"attribute {name} must be of type {AttributeProto.AttributeType.Name(kind)}")
        return attribute


def node_of(proto: NodeProto, opset: int, read: Container[str]) -> OnnxNode:
    """Make a node; `read` are the tensors that something reads. Raises ModelError if it writes nothing."""
    if not proto.output:
        raise ModelError("writes no tensor")
    attributes = {attribute.name: attribute for attribute in proto.attribute}
    first, *others = proto.output
    outputs = (first, *(name if name in read else "" for name in others))
    return OnnxNode(proto.op_type, proto.name, tuple(proto.input), outputs, attributes, opset, len(outputs))


def captured_by(proto: NodeProto) -> tuple[str, ...]:
    """Return the tensors that the graphs among a node's attributes read from outside, each once."""
    graphs = (attribute.g for attribute in proto.attribute if attribute.type == AttributeProto.GRAPH)
    return tuple(dict.fromkeys(name for graph in graphs for name in _read_from_outside(graph)))


def _read_from_outside(graph: GraphProto) -> Iterator[str]:
    own = {"", *(entry.name for entry in (*graph.input, *graph.initializer))}
    for node in graph.node:
        yield from (name for name in (*node.input, *captured_by(node)) if name not in own)
        own.update(node.output)
    yield from (entry.name for entry in graph.output if entry.name not in own)
