"""How `edged teach` handles the hub's answers."""

from pathlib import Path

import pytest

from edged import config
from edged.cli.daemon_client import DaemonClient
from edged.cli.samples import check_started
from edged.cli.teach.shadow import ShadowTally
from edged.cli.teach_folder import Place
from edged.errors import EdgedError
from edged.messages import Label, LinkMessage, ModelInfo
from edged.messages.teaching import ShadowResult, TeachEnded, TeachStarted

MODEL, OTHER = "a" * 64, "b" * 64


class Hub(DaemonClient):
    """A client that receives one given answer."""

    def __init__(self, answer: LinkMessage) -> None:
        self._address, self._answer = "ipc:///hub", answer

    def receive(self, within_s: float = 0.0) -> tuple[LinkMessage, bytes]:
        return self._answer, b""


def begins(folder: Path, model: str = MODEL, refused: str = "") -> TeachStarted:
    base = ModelInfo(name="small", sha256=model, labels=("a",), width=16, height=16)
    return TeachStarted(refused=refused, node="test", folder=str(folder), base=base)


@pytest.fixture
def place(folder: Path) -> Place:
    cameras = {"door": config.CameraConfig(source="synthetic:digits")}
    return Place(Path("edged.yaml"), config.Config(node="test", cameras=cameras), folder)


def test_a_hub_with_the_same_folder_and_model_is_accepted(place: Place) -> None:
    answer = begins(place.folder)
    assert check_started(Hub(answer), place, MODEL) == answer


def test_a_refusal_is_raised_with_its_reason(place: Place) -> None:
    with pytest.raises(EdgedError, match=r"^no worker yet$"):
        check_started(Hub(begins(place.folder, refused="no worker yet")), place, MODEL)


def test_a_hub_with_another_model_is_refused(place: Place) -> None:
    with pytest.raises(
        EdgedError, match=r"runs the model bbbbbbbbbbbb, edged.yaml names aaaaaaaaaaaa: restart it"
    ):
        check_started(Hub(begins(place.folder, OTHER)), place, MODEL)


def test_a_hub_that_keeps_its_state_elsewhere_is_refused(place: Place) -> None:
    with pytest.raises(
        EdgedError, match=r"in /var/lib/edged/test/teach, not in .*: run `edged teach` as its user"
    ):
        check_started(Hub(begins(Path("/var/lib/edged/test/teach"))), place, MODEL)


def test_an_unexpected_answer_is_rejected(place: Place) -> None:
    with pytest.raises(EdgedError, match="answers with a teach_ended: is it another version"):
        check_started(Hub(TeachEnded(reason="time", frames=0, missed=0)), place, MODEL)


def shadowed(ours: str, other: str, truth: str | None) -> ShadowResult:
    def top(label: str) -> tuple[Label, ...]:
        return (Label(label=label, index=0, score=0.9),)

    return ShadowResult(camera="door", frame=1, top=top(ours), shadow=top(other), truth=truth)


def test_answers_in_the_shadow_are_counted_by_pair_and_against_the_truth() -> None:
    tally = ShadowTally()
    for each in (
        ("7", "open", "open"),
        ("7", "open", "open"),
        ("open", "open", None),
        ("closed", "open", "closed"),
    ):
        tally.add(shadowed(*each))

    assert str(tally) == "4 frames, both models agree on 1"
    assert "      2  7  →  open" in tally.table()
    assert "accuracy on 3 labelled frames: 33.3%, in shadow 66.7%" in tally.table()
