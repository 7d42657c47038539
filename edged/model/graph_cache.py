"""Keep simplified graphs for the next start, as JSON and raw weights, so that `onnx` is not needed.

Two entries by one key: `.graph`, small and checked whenever it is loaded, and `.weights`, which is mapped and
stays unread until `Graph.checked` is called.
"""

import json
import logging
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from hashlib import sha256
from operator import index
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.arithmetic import ceil_div
from edged.model import graph as operators
from edged.model.activations import Activation
from edged.model.graph import Graph, NetworkOutput, Operator, Pair
from edged.system.disk_cache import CacheEntries, CacheEntry, Piece, code_sha256

ALIGNMENT = 64  # alignment of each array, in bytes

log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class KeptGraph:
    """A simplified graph, and of the file it came from the metadata properties, `contradictions` and outputs."""

    graph: Graph
    metadata: Mapping[str, str]
    contradictions: tuple[str, ...] = ()
    outputs: tuple[NetworkOutput, ...] = ()


class KeptGraphs:
    """The graphs of a cache folder."""

    def __init__(self, directory: Path) -> None:
        self._graphs = CacheEntries(directory, "graph")
        self._weights = CacheEntries(directory, "weights")

    def load(self, key: str, read_again: Callable[[], Graph]) -> KeptGraph | None:
        """Return the graph saved under `key`.

        `read_again` rebuilds the graph if its weights prove damaged.
        """
        text, weights = self._graphs.load(key), self._weights.find(key)
        if text is None or weights is None:
            return None
        content = json.loads(bytes(text))
        if len(weights.content) != content["bytes"]:
            return None
        kept = Graph(
            content["name"],
            content["input"],
            content["output"],
            tuple(_operator(one, weights) for one in content["operators"]),
            {name: tuple(shape) for name, shape in content["shapes"].items()},
        )
        whole = replace(kept, recheck=lambda: kept if weights.is_whole() else read_again())
        outputs = tuple(NetworkOutput(name, tuple(shape)) for name, shape in content["outputs"])
        return KeptGraph(whole, content["metadata"], tuple(content["contradictions"]), outputs)

    def save(self, key: str, kept: KeptGraph) -> None:
        """Save a graph. A cache that cannot be written is logged."""
        layout = _Layout()
        graph = kept.graph
        content = {
            "name": graph.name,
            "input": graph.input,
            "output": graph.output,
            "operators": [_fields(operator, layout) for operator in graph.operators],
            "shapes": graph.shapes,
            "metadata": dict(kept.metadata),
            "contradictions": kept.contradictions,
            "outputs": [(output.name, output.shape) for output in kept.outputs],
            "bytes": layout.size,
        }
        try:
            text = json.dumps(content, default=index)
            self._weights.save(key, layout.pieces())
            self._graphs.save(key, [text.encode()])
        except (OSError, TypeError) as error:  # a damaged file may have names that are not text
            log.warning("the network cannot be kept, so the next start will read the file again: %s", error)


def graph_key(file_sha256: str, name: str, size: Pair | None) -> str:
    """Return the key of the graph for a file, an input size (width, height) and the code that reads it."""
    parts = [file_sha256, name, size, code_sha256("edged.model")]
    return sha256(json.dumps(parts).encode()).hexdigest()


class _Layout:
    """Places arrays one after another."""

    def __init__(self) -> None:
        self.size = 0
        self._arrays: list[NDArray[Any]] = []

    def place(self, array: NDArray[Any]) -> int:
        """Return the offset of `array` in bytes."""
        offset = self.size
        self._arrays.append(array)
        self.size += _padded(array.nbytes)
        return offset

    def pieces(self) -> Iterator[Piece]:
        for array in self._arrays:
            data = array.tobytes()
            yield data.ljust(_padded(len(data)), b"\0")


def _padded(size: int) -> int:
    return ceil_div(size, ALIGNMENT) * ALIGNMENT


def _fields(operator: Operator, layout: _Layout) -> dict[str, Any]:
    """Return an operator for JSON; an array is its offset, shape and type, bytes are base64."""
    values = {field.name: getattr(operator, field.name) for field in fields(operator)}
    arrays = {
        name: {"offset": layout.place(value), "shape": value.shape, "dtype": value.dtype.name}
        for name, value in values.items()
        if isinstance(value, np.ndarray)
    }
    texts = {name: {"base64": b64encode(value).decode()} for name, value in values.items() if type(value) is bytes}
    return {"type": type(operator).__name__, **values, **arrays, **texts}


def _operator(content: dict[str, Any], weights: CacheEntry) -> Operator:
    """Rebuild an operator from the output of `_fields`."""
    kind: type[Operator] = getattr(operators, content["type"])
    values = {name: _value(value, weights) for name, value in content.items() if name != "type"}
    if "activation" in values:
        values["activation"] = Activation(*values["activation"])
    return kind(**values)


def _value(value: Any, weights: CacheEntry) -> Any:
    if isinstance(value, list):
        return tuple(_value(each, weights) for each in value)
    if isinstance(value, dict) and "base64" in value:
        return b64decode(value["base64"])
    if isinstance(value, dict):
        count = int(np.prod(value["shape"]))
        return np.frombuffer(weights.content, value["dtype"], count, value["offset"]).reshape(value["shape"])
    return value
