"""Which nodes come first, and when the next ones follow."""

from collections.abc import Mapping

import pytest

from edged.errors import ConfigError
from edged.fleet.records import (
    NodeReport,
    Phase,
    Rollout,
    RolloutStage,
    SignedModel,
    stage_index,
    stages_of,
    why_wait,
)

NODES = [f"node-{number}" for number in range(30)]
MODEL = SignedModel(name="doors", file="doors.onnx", sha256="0" * 64, size=1)
TWO = Rollout(
    id="a",
    model=MODEL,
    gate="not_finite=0",
    stages=(RolloutStage(share=0.1, nodes=("first",)), RolloutStage(share=1.0, nodes=("second", "third"))),
)


def reports(**phases: Phase) -> Mapping[str, NodeReport]:
    return {name: NodeReport(node=name, phase=phase, rollout="a") for name, phase in phases.items()}


def test_stages_hold_their_share_of_all_nodes_and_every_node_once() -> None:
    stages = stages_of("a", NODES, (0.1, 0.5, 1.0))
    assert [len(stage.nodes) for stage in stages] == [3, 12, 15]
    assert sorted(node for stage in stages for node in stage.nodes) == sorted(NODES)


def test_the_order_depends_on_the_names_alone_and_each_roll_out_has_its_own() -> None:
    assert stages_of("a", NODES, (0.1,)) == stages_of("a", reversed(NODES), (0.1,))
    assert stages_of("a", NODES, (0.1,)) != stages_of("b", NODES, (0.1,))


def test_each_stage_has_a_node_as_long_as_there_are_any() -> None:
    assert [len(stage.nodes) for stage in stages_of("a", NODES[:3], (0.1, 0.2, 1.0))] == [1, 1, 1]
    assert [len(stage.nodes) for stage in stages_of("a", NODES[:1], (0.1, 1.0))] == [1]


@pytest.mark.parametrize(
    ("nodes", "shares", "message"),
    [([], (1.0,), "no node has reported"), (NODES, (0.5, 0.5), "each --then must be more than the share before")],
)
def test_shares_that_make_no_stages_are_refused(nodes: list[str], shares: tuple[float, ...], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        stages_of("a", nodes, shares)


@pytest.mark.parametrize(
    ("node", "phases", "silent", "why"),
    [
        ("first", {}, set(), ""),
        ("second", {}, set(), "waits for first"),
        ("second", {"first": "trial"}, set(), "waits for first"),
        ("second", {"first": "promoted"}, set(), ""),
        ("second", {"first": "refused"}, set(), "the roll-out has stopped: first has failed"),
        ("second", {"first": "rolled_back"}, set(), "the roll-out has stopped: first has failed"),
        ("second", {"first": "trial"}, {"first"}, "waits for the stage before: all of its nodes are silent"),
        ("third", {"first": "promoted", "second": "refused"}, set(), ""),
        ("new", {"first": "promoted"}, set(), ""),
    ],
)
def test_a_stage_follows_once_the_one_before_has_promoted_the_model(
    node: str, phases: dict[str, Phase], silent: set[str], why: str
) -> None:
    assert why_wait(TWO, node, reports(**phases), silent) == why


def test_a_report_of_another_roll_out_counts_as_none() -> None:
    other = {"first": NodeReport(node="first", phase="promoted", rollout="before")}
    assert why_wait(TWO, "second", other, set()) == "waits for first"


def test_a_new_node_belongs_to_the_last_stage_if_that_is_for_all() -> None:
    assert stage_index(TWO, "new") == 1
    tenth = TWO.model_copy(update={"stages": TWO.stages[:1]})
    assert stage_index(tenth, "new") is None
    assert why_wait(tenth, "new", {}, set()) == "this node is in no stage of the roll-out"
