"""Check whether a worker fits this hub and the other workers."""

from collections.abc import Iterable, Mapping

from edged.config.worker import is_cut
from edged.messages import ModelInfo, Part, WorkerHello, protocol_problem

Ends = tuple[str | None, str | None]  # of a worker's part, as the config's `until` names them
WHOLE: Ends = (None, None)


def misfit(name: str, hello: WorkerHello, model: ModelInfo, ends: Mapping[str, Ends]) -> str:
    """Return why the worker with the link name `name` is refused; empty if it is accepted."""
    if reason := protocol_problem(hello):
        return reason
    if hello.worker != name:
        return f"its hello is of {hello.worker}, its link of {name}"
    if problem := other_model(hello, "this hub serves", model):
        return f"it {problem}"
    part, (begin, end) = hello.part or Part(), ends.get(name, WHOLE)
    if not is_cut(begin, part.begin) or not is_cut(end, part.end):
        wanted = Part(begin=begin, end=end)
        return f"it runs the network {part}, this hub's config says {wanted}: give both the same file"
    return ""


def other_model(hello: WorkerHello, others: str, model: ModelInfo) -> str:
    """Return how a worker's model differs from what `others` (`this hub serves`); empty where it is the same."""
    own = hello.model
    if own == model:
        return ""
    names = f"runs {own.name} ({own.sha256[:12]}), {others} {model.name} ({model.sha256[:12]})"
    return f"{names}: give both the same model file"


def crossing(hello: WorkerHello, others: Iterable[WorkerHello], ends: Mapping[str, Ends]) -> str:
    """Return how `hello` and one of the `others` differ at a cut that both have; empty if all agree."""
    known = {until: (other, cut) for other in others for until, cut in _cuts(other, ends).items()}
    for until, cut in _cuts(hello, ends).items():
        other, other_cut = known.get(until, (hello, cut))
        if cut != other_cut and other.worker != hello.worker:
            return (
                f"it cuts the network after {cut[0]}, where {cut[1]} values cross, {other.worker} after "
                f"{other_cut[0]}, where {other_cut[1]} do: give both the same file"
            )
    return ""


def _cuts(hello: WorkerHello, ends: Mapping[str, Ends]) -> dict[str, tuple[str | None, int]]:
    """Return, for each end of its part, as the config names it: the operator, and the values per frame."""
    part, (begin, end) = hello.part or Part(), ends.get(hello.worker, WHOLE)
    cuts = {begin: (part.begin, part.values_in), end: (part.end, part.values_out)}
    return {until: cut for until, cut in cuts.items() if until is not None}
