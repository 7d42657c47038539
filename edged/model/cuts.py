"""Find where a network can be cut in two so that a single tensor crosses, and extract the parts between cuts."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from edged.config.worker import is_cut
from edged.errors import ModelError
from edged.model.graph import Flatten, Graph, Shape, Unflatten


@dataclass(frozen=True, slots=True)
class Cut:
    """A cut after the first `operators` of a graph, the last one named `after`: only `tensor` crosses it."""

    operators: int
    after: str
    tensor: str
    shape: Shape


def cuts(graph: Graph) -> Iterator[Cut]:
    """Yield every place, in order, where the operators so far leave one tensor that later ones read."""
    last_read = {name: index for index, operator in enumerate(graph.operators) for name in operator.inputs}
    alive = {graph.input}
    for index, operator in enumerate(graph.operators[:-1]):
        alive.add(operator.output)
        alive = {name for name in alive if last_read.get(name, -1) > index}
        if len(alive) == 1:
            (tensor,) = alive
            yield Cut(index + 1, operator.name, tensor, graph.shapes[tensor])


def cut_after(graph: Graph, until: str) -> Cut:
    """Return the cut after the operator `until`; else the last whose name begins with it and a dot or slash.

    Raises ModelError.
    """
    found = [cut for cut in cuts(graph) if is_cut(until, cut.after)]
    found = [cut for cut in found if cut.after == until] or found
    if not found:
        names = ", ".join(cut.after for cut in cuts(graph))
        raise ModelError(f"{graph.name} cannot be cut after {until!r}; a single tensor crosses after: {names}")
    return found[-1]


def ends_of(graph: Graph, begin: str | None, end: str | None) -> tuple[Cut | None, Cut | None]:
    """Return the cuts with these names, in order. Raises ModelError, also if nothing is computed between them."""
    first, last = (cut_after(graph, name) if name is not None else None for name in (begin, end))
    if first and last and first.operators >= last.operators:
        raise ModelError(f"{graph.name} has nothing between {begin!r} and {end!r}: segments come in its own order")
    if first and all(isinstance(operator, Flatten | Unflatten) for operator in part(graph, first, last).operators):
        raise ModelError(
            f"{graph.name} computes nothing between {begin!r} and {end or 'its scores'!r}, where values are only "
            "flattened: cut it after an earlier layer"
        )
    return first, last


def part(graph: Graph, begin: Cut | None, end: Cut | None) -> Graph:
    """Return the operators after `begin` up to `end`; None: from the images, or to the scores."""
    operators = graph.operators[begin.operators if begin else 0 : end.operators if end else None]
    recheck = graph.recheck
    return replace(
        graph,
        input=begin.tensor if begin else graph.input,
        output=end.tensor if end else graph.output,
        operators=operators,
        recheck=(lambda: part(recheck(), begin, end)) if recheck else None,
    )
