"""Write a network whose weights are codebooks and indices, as an ONNX file that any runtime can read.

A weight becomes the output of `Gather(codebook, Cast(indices))`: float entries, and a byte for each weight. With a
codebook of at most 16 entries a byte may name two of them (`Gather` from a table of all pairs), because
Zstandard's code takes at least a bit for each byte, and a pruned weight deserves less.
"""

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from edged import __version__
from edged.compress.codebook import Codebook
from edged.model.model_file import compress

MOST_OF_A_PAIR = 16  # entries: two indices fit a byte
PAIRS = "edged.pairs"  # the table of all pairs, once in a file
INITIALIZERS_ALONE = 4  # IR version from which initializers need not be inputs too

APART = 256  # bytes of a tensor from which a code of its own is worth its table

Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class CodedLayer:
    """The size of one weight. `bound_bytes`: its indices by a Huffman code; `coded_bytes`: by Zstandard, alone."""

    name: str
    weights: int
    zeros: int
    entries: int
    bound_bytes: float
    coded_bytes: int


def coded(model: onnx.ModelProto, codebooks: Mapping[str, Codebook]) -> onnx.ModelProto:
    """Return the file with codebooks in place of these initializers. Everything else, metadata too, is kept."""
    small = onnx.ModelProto()
    small.CopyFrom(model)
    graph = small.graph
    plain = [tensor for tensor in graph.initializer if tensor.name not in codebooks]
    inputs = [entry for entry in graph.input if entry.name not in codebooks]
    nodes = list(graph.node)
    for field in ("initializer", "input", "node"):
        graph.ClearField(field)
    graph.initializer.extend(plain)
    graph.input.extend(inputs)
    for name, codebook in codebooks.items():
        _write(graph, name, codebook)
    graph.node.extend(nodes)
    small.ir_version = max(small.ir_version, INITIALIZERS_ALONE)
    small.producer_name, small.producer_version = "edged", __version__
    return small


def borders_of(model: onnx.ModelProto, content: bytes) -> list[int]:
    """Return where large tensors begin and end in `content`, the serialized file, for `compress`."""
    places, at = [], 0
    for tensor in model.graph.initializer:
        if len(tensor.raw_data) >= APART and (start := content.find(tensor.raw_data, at)) >= 0:
            at = start + len(tensor.raw_data)
            places += [start, at]
    return places


def coded_layer(name: str, codebook: Codebook) -> CodedLayer:
    """Return the sizes of one weight, for the report."""
    counts = codebook.counts.tolist()
    zeros = int(codebook.counts[codebook.entries == 0].sum())
    bound = huffman_bits(counts) / 8
    indices = _best(codebook.indices, len(codebook.entries))
    return CodedLayer(
        name, codebook.indices.size, zeros, len(codebook.entries), bound, len(compress(indices.tobytes()))
    )


def _write(graph: onnx.GraphProto, name: str, codebook: Codebook) -> None:
    """Add the tensors and nodes that yield the tensor `name`."""
    indices = _best(codebook.indices, len(codebook.entries))
    is_paired = indices.size < codebook.indices.size
    _constant(graph, f"{name}.codebook", codebook.entries)
    _constant(graph, f"{name}.indices", indices)
    _node(graph, "Cast", [f"{name}.indices"], f"{name}.places", to=TensorProto.INT32)
    if not is_paired:
        _node(graph, "Gather", [f"{name}.codebook", f"{name}.places"], name)
        return
    if all(tensor.name != PAIRS for tensor in graph.initializer):
        every = np.arange(MOST_OF_A_PAIR**2, dtype=np.int32)
        _constant(graph, PAIRS, np.stack(np.divmod(every, MOST_OF_A_PAIR)))  # what each byte names, [2, 256]
    _constant(graph, f"{name}.shape", np.array(codebook.indices.shape, np.int64))
    _node(graph, "Gather", [PAIRS, f"{name}.places"], f"{name}.pairs", axis=1)
    _node(graph, "Reshape", [f"{name}.pairs", f"{name}.shape"], f"{name}.each")
    _node(graph, "Gather", [f"{name}.codebook", f"{name}.each"], name)


def _best(indices: Bytes, entries: int) -> Bytes:
    """Return the indices, or [size ÷ 2] of pairs where Zstandard makes those smaller.

    A pair is an index of the first half and the one at the same place in the second half.
    """
    if entries > MOST_OF_A_PAIR or indices.size % 2:
        return indices
    first, second = indices.reshape(2, -1)
    pairs = np.asarray(first * MOST_OF_A_PAIR + second, np.uint8)
    return min(indices, pairs, key=lambda one: len(compress(one.tobytes())))


def _constant(graph: onnx.GraphProto, name: str, values: NDArray[np.generic]) -> None:
    graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(values), name))


def _node(graph: onnx.GraphProto, kind: str, inputs: list[str], output: str, **attributes: int) -> None:
    node = helper.make_node(kind, inputs, [output])
    node.attribute.extend(helper.make_attribute(key, value) for key, value in attributes.items())
    graph.node.append(node)


def huffman_bits(counts: Sequence[int]) -> int:
    """Return the bits that a Huffman code of symbols with these counts takes, without its table: for comparison.

    Each merge of the two rarest groups adds one bit to every symbol in them. A single symbol takes no bits.
    """
    heap = [int(count) for count in counts if count]
    heapq.heapify(heap)
    bits = 0
    while len(heap) > 1:
        both = heapq.heappop(heap) + heapq.heappop(heap)
        bits += both
        heapq.heappush(heap, both)
    return bits
