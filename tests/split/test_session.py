"""What goes wrong while workers are asked what they can do."""

from collections.abc import Sequence

import pytest

from edged.cli.plan_split import lines_of
from edged.config import CameraConfig, Config, WorkerConfig
from edged.errors import DeviceError, EdgedError, ModelError
from edged.hub.frames.queues import Pixels
from edged.messages import CutPoint, Echo, LinkMessage, MeasureAnswer, MeasureRequest
from edged.split.measure import measure
from edged.split.search import Cost, PlannedPart, Way
from edged.split.workers import Team
from tests.cli.scripted import Says, ScriptedLinks, hello_of
from tests.system.scripted_machine import ScriptedMachine

CONFIG = Config(
    cameras={"demo": CameraConfig(source="synthetic:digits")},
    workers=(
        WorkerConfig(device="cpu"),
        WorkerConfig(device="Mali", host="big", batch=4),
        WorkerConfig(device="numpy"),
    ),
)


def measured(*names: str) -> MeasureAnswer:
    after = (None, *names, None)
    places = [
        CutPoint(after=name, nbytes=1, reached_s=number, receive_s=0, send_s=0)
        for number, name in enumerate(after)
    ]
    return MeasureAnswer(cut_points=tuple(places), overlaps=False)


@pytest.mark.parametrize(("answers", "error", "words"), [
    ({"a": measured("x"), "b": measured("y")}, ModelError, "a and b cut the network at other places"),
    ({"a": measured(), "b": measured()}, ModelError, "this network cannot be cut"),
    ({"a": measured("x"), "b": None}, DeviceError, "worker b reconnected without an answer"),
])  # fmt: skip
def test_answers_that_cannot_be_used_are_reported(
    answers: dict[str, MeasureAnswer | None], error: type[EdgedError], words: str
) -> None:
    def says(name: str, message: LinkMessage, payloads: Sequence[Pixels]) -> list[Says]:
        answer = answers[name]
        return [*([(answer, ())] if answer else []), (hello_of(name), ())]

    links = ScriptedLinks({name: lambda *sent, name=name: says(name, *sent) for name in answers})
    team = Team(links, {}, print)
    team.hellos.update({name: hello_of(name) for name in answers})

    with pytest.raises(error, match=words):
        measure(team, {name: [name] for name in answers}, frames=1, for_s=0.0)


def test_the_workers_of_the_segments_come_first_in_their_order_and_the_others_stay_behind() -> None:
    parts = (
        PlannedPart("big-1", ("big-1",), None, "stage2"),
        PlannedPart("local-0", ("local-0",), "stage2", None),
    )
    lines = lines_of(CONFIG, Way("split", parts, Cost(1, 2)))
    assert lines.splitlines() == [
        "workers:",
        "  - {device: Mali, host: big, group: big-1, batch: 4}",
        "  - {device: cpu, group: local-0}",
        "  - {device: numpy}",
        "segments:",
        "  - {until: stage2, workers: big-1}",
        "  - {workers: local-0}",
    ]


def test_workers_are_measured_again_after_a_disturbed_turn() -> None:
    answer = measured("x")

    def says(name: str, message: LinkMessage, payloads: Sequence[Pixels]) -> list[Says]:
        if isinstance(message, MeasureRequest):
            return [(answer, ()), (hello_of(name), ())]
        return [(Echo(reply_bytes=0), ())]

    links = ScriptedLinks({name: lambda *sent, name=name: says(name, *sent) for name in "ab"})
    team = Team(links, {}, print)
    team.hellos.update({name: hello_of(name) for name in "ab"})

    units, turns = measure(team, {name: [name] for name in "ab"}, 1, 0.0, ScriptedMachine("disturbed", "two-core"))

    assert [unit.name for unit in units] == ["a", "b"]
    assert [turn.state for turn in turns] == ["disturbed", "two-core"]
