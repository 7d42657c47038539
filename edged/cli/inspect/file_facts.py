"""What an ONNX file says about itself: its origin, its input and output, and the operators that edged lacks."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from onnx import ValueInfoProto

from edged.model.from_onnx.file import read_file
from edged.model.from_onnx.node import type_name
from edged.model.missing_operators import MissingOperator, missing_operators


@dataclass(frozen=True)
class FileTensor:
    """An input or output of the file. `dims`: numbers, names of open dimensions, or `?`."""

    name: str
    type: str
    dims: tuple[int | str, ...]

    def __str__(self) -> str:
        return f"{self.name}: {self.type} [{', '.join(map(str, self.dims))}]"


@dataclass(frozen=True)
class FileFacts:
    """`nbytes`: of the file and of those with its weights. `missing`: operators without support."""

    path: Path
    opset: int
    producer: str
    nodes: int
    nbytes: int
    inputs: tuple[FileTensor, ...]
    outputs: tuple[FileTensor, ...]
    missing: tuple[MissingOperator, ...]


def facts_of(path: Path) -> FileFacts:
    """Read the facts of a file. Raises ModelError for one that is no ONNX file, or is damaged."""
    file = read_file(path)
    graph = file.model.graph
    weights = {tensor.name for tensor in graph.initializer}
    return FileFacts(
        path,
        file.opset,
        " ".join(filter(None, (file.model.producer_name, file.model.producer_version))),
        len(graph.node),
        sum(part.stat().st_size for part in (path, *file.external)),
        _tensors(entry for entry in graph.input if entry.name not in weights),
        _tensors(graph.output),
        missing_operators(file),
    )


def _tensors(entries: Iterable[ValueInfoProto]) -> tuple[FileTensor, ...]:
    return tuple(
        FileTensor(
            entry.name,
            type_name(entry.type.tensor_type.elem_type),
            tuple(dim.dim_value or dim.dim_param or "?" for dim in entry.type.tensor_type.shape.dim),
        )
        for entry in entries
    )
