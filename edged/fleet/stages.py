"""Which nodes take a model first, and when the next ones follow."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import pairwise

from edged.errors import ConfigError
from edged.fleet.records import DONE, FAILED, NodeReport, Rollout, RolloutStage


def stages_of(rollout: str, nodes: Iterable[str], shares: Sequence[float]) -> tuple[RolloutStage, ...]:
    """Divide `nodes` by cumulative shares, in an order that depends on both names alone. Each stage has a node.

    Raises ConfigError for shares that do not grow, or without nodes.
    """
    ordered = sorted(set(nodes), key=lambda node: sha256(f"{rollout}/{node}".encode()).digest())
    if not ordered:
        raise ConfigError("no node has reported to this fleet yet: start `edged fleet agent` on a board first")
    if any(after <= before for before, after in pairwise(shares)):
        raise ConfigError("each --then must be more than the share before it")
    stages, begin = [], 0
    for share in shares:
        end = max(begin + 1, round(share * len(ordered)))
        if chosen := tuple(ordered[begin:end]):
            stages.append(RolloutStage(share=share, nodes=chosen))
        begin = end
    return tuple(stages)


def stage_index(rollout: Rollout, node: str) -> int | None:
    """Return the stage of a node; one that is new belongs to the last, if that is for all. None: to no stage."""
    for index, stage in enumerate(rollout.stages):
        if node in stage.nodes:
            return index
    return len(rollout.stages) - 1 if rollout.stages[-1].share >= 1 else None


def why_wait(rollout: Rollout, node: str, reports: Mapping[str, NodeReport], silent: Collection[str]) -> str:
    """Return why a node may not begin yet; empty if it may.

    It may once every node of the stages before has finished, but for silent ones, none has failed, and at least
    one has promoted the model.
    """
    index = stage_index(rollout, node)
    if index is None:
        return "this node is in no stage of the roll-out"
    before = [name for stage in rollout.stages[:index] for name in stage.nodes]
    phases = {name: reports[name].phase if _is_of(rollout, reports.get(name)) else "waiting" for name in before}
    if failed := [name for name in before if phases[name] in FAILED]:
        return f"the roll-out has stopped: {failed[0]} has failed"
    if late := [name for name in before if phases[name] not in DONE and name not in silent]:
        return f"waits for {', '.join(late[:3])}{' …' if len(late) > 3 else ''}"
    if before and "promoted" not in phases.values():
        return "waits for the stage before: all of its nodes are silent"
    return ""


def _is_of(rollout: Rollout, report: NodeReport | None) -> bool:
    return report is not None and report.rollout == rollout.id
