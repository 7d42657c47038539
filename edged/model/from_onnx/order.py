"""Which nodes of a file matter, in the order that they run."""

import heapq
from collections import defaultdict
from collections.abc import Mapping, Sequence

from onnx import GraphProto, NodeProto

from edged.model.from_onnx.node import captured_by


def nodes_of(graph: GraphProto) -> list[NodeProto]:
    """Return the nodes that the outputs depend on, each behind those that it reads.

    Files have other nodes where a graph was cut or edited. Nodes of a cycle come last, in the order of the file.
    """
    reads = [{*node.input, *captured_by(node)} - {""} for node in graph.node]
    writers: Mapping[str, list[int]] = defaultdict(list)
    for number, node in enumerate(graph.node):
        for name in node.output:
            writers[name].append(number)
    needs = [{writer for name in names for writer in writers.get(name, ())} for names in reads]
    live = _reachable([writer for entry in graph.output for writer in writers.get(entry.name, ())], needs)
    return [graph.node[number] for number in _sorted(live, needs)]


def _reachable(starts: Sequence[int], needs: Sequence[set[int]]) -> set[int]:
    found, left = set(starts), list(starts)
    while left:
        new = needs[left.pop()] - found
        found |= new
        left += new
    return found


def _sorted(live: set[int], needs: Sequence[set[int]]) -> list[int]:
    """Return nodes behind those that they need; of several that may come next, the first of the file."""
    missing = {number: len(needs[number] - {number}) for number in live}
    readers: Mapping[int, list[int]] = defaultdict(list)
    for number in live:
        for writer in needs[number] - {number}:
            readers[writer].append(number)
    ready = [number for number, count in missing.items() if not count]
    heapq.heapify(ready)
    found = []
    while ready:
        number = heapq.heappop(ready)
        found.append(number)
        for reader in readers[number]:
            missing[reader] -= 1
            if not missing[reader]:
                heapq.heappush(ready, reader)
    return [*found, *sorted(live - set(found))]
