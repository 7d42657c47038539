"""Find every operator of an ONNX file that edged does not read, not only the first one."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from onnx import NodeProto

from edged.model.from_onnx.file import OnnxFile
from edged.model.from_onnx.on_host import refusal_of
from edged.model.from_onnx.qoperator import EXPANSIONS, MICROSOFT
from edged.model.onnx_reader import CONVERTERS, OWN_DOMAINS


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
    """Yield kind and name of each node that neither a kernel nor the host computes."""
    for node in file.model.graph.node:
        if node.op_type in EXPANSIONS and node.domain in OWN_DOMAINS | {MICROSOFT}:
            continue
        if node.domain not in OWN_DOMAINS:
            yield f"{node.domain}.{node.op_type}", _name_of(node)
        elif node.op_type not in CONVERTERS and refusal_of(node.op_type, file.opset):
            yield node.op_type, _name_of(node)


def _name_of(node: NodeProto) -> str:
    return node.name or (node.output[0] if node.output else "without a name")
