"""The steps of a board in a roll-out, with real files and a real stream."""

import asyncio
import os
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from edged.config import FleetConfig
from edged.fleet import steps
from edged.fleet.answers import DaemonAnswers
from edged.fleet.board import BoardFiles
from edged.fleet.gate import Comparison
from edged.fleet.records import DONE, Rollout, RolloutStage, SignedModel
from edged.fleet.signing import load_signer, load_signers, new_signer, sign
from edged.fleet.steps import RolloutSteps, Surroundings
from tests.eventually import eventually
from tests.fleet.stream import GOOD, StreamedDaemon, streamed_daemon

OLD, NEW, OTHER = b"old network", b"new network", b"another network"
GATE = "agreement>=0.98,p99<=1.2x,joules<=1.1x,not_finite=0"


class Scene:
    """A board whose daemon answers by `OLD`, and a roll-out of `NEW`."""

    def __init__(self, folder: Path, daemon: StreamedDaemon, answers: DaemonAnswers) -> None:
        self.folder, self.daemon, self.answers = folder, daemon, answers
        self.board = BoardFiles(folder / "net.onnx", "test")
        self.fetched: set[str] = set()
        self.start()
        self.loop = asyncio.new_event_loop()
        self.rollout = Rollout(
            id="a", model=signed(folder), gate=GATE, stages=(RolloutStage(share=1.0, nodes=("test",)),)
        )

    def start(self, watch_s: float = 0.2) -> None:
        """Start the steps, as a new process does."""
        public = self.folder / "alice.signer.pub"
        settings = FleetConfig(signers=(public,), watch_s=watch_s)
        around = Surroundings(settings, load_signers((public,)), "edged.yaml", self.daemon.edged)
        self.steps = RolloutSteps(around, self.board, self.answers, self._fetch)

    def turn(self) -> str:
        """Do one step, while the daemon publishes; return the phase."""
        self.daemon.publish()
        self.loop.run_until_complete(self._follow())
        return self.steps.progress.phase

    def until(self, *phases: str) -> None:
        """Take turns until one of these phases."""
        eventually(lambda: self.turn() in phases)

    def order(self, **changed: Any) -> None:
        self.rollout = self.rollout.model_copy(update=changed)

    async def _fetch(self, model: SignedModel, path: Path) -> None:
        """Fetch from a store that has both models."""
        self.fetched.add(model.sha256)
        path.write_bytes(NEW if model.sha256 == sha256(NEW).hexdigest() else OTHER)

    async def _follow(self) -> None:
        await self.steps.follow(self.rollout, "")
        await asyncio.sleep(0)

    @property
    def message(self) -> str:
        return self.steps.progress.message

    @property
    def target(self) -> str:
        return Path(os.readlink(self.board.link)).name


def signed(folder: Path, content: bytes = NEW) -> SignedModel:
    model = SignedModel(name="net", file="net-2.onnx", sha256=sha256(content).hexdigest(), size=len(content))
    key = folder / "alice.signer.key"
    if not key.exists():
        new_signer(folder, "alice")
    public, signature = sign(model.signed, load_signer(key))
    return model.model_copy(update={"signer": public, "signature": signature})


def other_model(folder: Path, *, is_signed: bool) -> SignedModel:
    model = signed(folder, OTHER)
    return model if is_signed else model.model_copy(update={"signer": "", "signature": ""})


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path / "state"))
    (tmp_path / "first.onnx").write_bytes(OLD)
    (tmp_path / "net.onnx").symlink_to("first.onnx")
    signed(tmp_path)
    with streamed_daemon(tmp_path / "net.onnx") as (daemon, answers):
        scene = Scene(tmp_path, daemon, answers)
        yield scene
        scene.steps.stop()
        scene.loop.close()


def test_a_model_that_passes_in_shadow_and_in_use_is_promoted(scene: Scene) -> None:
    scene.until(*DONE)
    progress = scene.steps.progress
    assert (progress.phase, progress.trial, scene.target) == ("promoted", GOOD, "net-2.onnx")
    assert progress.in_use
    assert progress.in_use.after.frames > 0
    assert progress.message == f"answers from prediction {progress.first_seq} on"
    assert scene.daemon.commands == ["fleet trial", "reload"]


def test_a_model_that_fails_in_shadow_never_answers(scene: Scene) -> None:
    scene.daemon.trial = 0, Comparison(agreement=0.9, before=GOOD.before, after=GOOD.after).model_dump_json(), ""
    scene.until(*DONE)
    assert scene.steps.progress.phase == "refused"
    assert scene.message == "the gate fails in shadow: agreement 0.9, required agreement>=0.98"
    assert (scene.target, scene.daemon.commands) == ("first.onnx", ["fleet trial"])


def test_a_model_that_is_slower_in_use_is_rolled_back(scene: Scene) -> None:
    scene.daemon.forward_s[NEW] = 0.02
    scene.until(*DONE)
    assert scene.steps.progress.phase == "rolled_back"
    assert scene.message == "the gate fails in use: p99 2x, required p99<=1.2x"
    assert (scene.target, scene.daemon.commands) == ("first.onnx", ["fleet trial", "reload", "reload"])


def test_a_model_whose_answers_are_not_finite_in_use_is_rolled_back_at_once(scene: Scene) -> None:
    scene.start(watch_s=3600)
    scene.until("watching")
    scene.daemon.not_finite = 3
    scene.until(*DONE)
    assert scene.message == "the gate fails in use: not_finite 3, required not_finite=0"
    assert scene.target == "first.onnx"


def test_a_model_that_gives_no_prediction_is_rolled_back(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "ANSWERS_S", 0.2)
    scene.daemon.silent.add(NEW)
    scene.until(*DONE)
    assert scene.steps.progress.phase == "rolled_back"
    assert "it gave no prediction within 0.2 s" in scene.message
    assert scene.target == "first.onnx"


def test_a_daemon_that_is_silent_while_it_is_watched_is_waited_for(scene: Scene) -> None:
    watch_from_silence(scene, watch_s=0.1)
    over_s = time.monotonic() + 0.3
    eventually(lambda: scene.turn() != "watching" or time.monotonic() > over_s)
    assert scene.steps.progress.phase == "watching"
    scene.daemon.silent.remove(NEW)
    scene.until(*DONE)
    assert (scene.steps.progress.phase, scene.target) == ("promoted", "net-2.onnx")


def test_a_daemon_that_stays_silent_while_it_is_watched_is_rolled_back(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch_from_silence(scene, watch_s=0.1)
    monkeypatch.setattr(steps, "ANSWERS_S", 0.3)
    scene.until(*DONE)
    assert (scene.steps.progress.phase, scene.target) == ("rolled_back", "first.onnx")


def watch_from_silence(scene: Scene, watch_s: float) -> None:
    """Start a new process in the phase `watching`, as after a reboot: the daemon is silent."""
    scene.start(watch_s=3600)
    scene.until("watching")
    scene.daemon.silent.add(NEW)
    eventually(lambda: (last := scene.answers.last) and last.seq == scene.daemon.last_seq)
    scene.start(watch_s)


@pytest.mark.parametrize("phase", ["fetching", "trial", "ready", "promoting", "watching", "rolling_back"])
def test_a_new_process_continues_where_the_one_before_was_killed(scene: Scene, phase: str) -> None:
    scene.daemon.forward_s[NEW] = 0.02
    scene.until(phase)
    scene.steps.stop()
    scene.start()
    scene.until(*DONE)
    assert (scene.steps.progress.phase, scene.target) == ("rolled_back", "first.onnx")
    assert "the gate fails in use: p99 2x" in scene.message


@pytest.mark.parametrize("phase", ["fetching", "trial", "ready"])
def test_taken_back_before_it_answers_it_never_does(scene: Scene, phase: str) -> None:
    scene.until(phase)
    scene.order(state="rolled_back")
    scene.until(*DONE)
    assert (scene.steps.progress.phase, scene.target) == ("cancelled", "first.onnx")


@pytest.mark.parametrize("phase", ["promoting", "watching", "promoted"])
def test_taken_back_while_it_answers_the_model_before_is_restored(scene: Scene, phase: str) -> None:
    scene.until(phase)
    scene.order(state="rolled_back")
    scene.until("rolled_back")
    assert scene.target == "first.onnx"


@pytest.mark.parametrize("phase", ["fetching", "trial", "ready"])
@pytest.mark.parametrize("is_signed", [True, False])
def test_a_model_that_is_exchanged_under_the_id_of_the_roll_out_is_never_fetched_or_tried(
    scene: Scene, phase: str, is_signed: bool, caplog: pytest.LogCaptureFixture
) -> None:
    scene.until(phase)
    scene.order(model=other_model(scene.folder, is_signed=is_signed))
    scene.until(*DONE)
    assert (scene.steps.progress.phase, scene.target) == ("cancelled", "first.onnx")
    assert scene.message == "the record of the roll-out was changed under its id: begin a new one"
    assert "the record of the roll-out a was changed after this board had read it" in caplog.text
    assert scene.fetched <= {sha256(NEW).hexdigest()}
    assert not (scene.board.folder / "models" / sha256(OTHER).hexdigest()).exists()


@pytest.mark.parametrize("phase", ["promoting", "watching"])
@pytest.mark.parametrize("changed", ["model", "gate"])
def test_a_record_that_changes_while_its_model_answers_ends_in_a_roll_back(
    scene: Scene, phase: str, changed: str
) -> None:
    scene.start(watch_s=3600)
    scene.until(phase)
    scene.order(**{changed: {"model": other_model(scene.folder, is_signed=True), "gate": "not_finite=0"}[changed]})
    scene.until(*DONE)
    assert (scene.steps.progress.phase, scene.target) == ("rolled_back", "first.onnx")


def test_an_order_that_is_changed_before_it_begins_is_cancelled(scene: Scene) -> None:
    scene.order(state="paused")
    scene.until("waiting")
    scene.order(model=other_model(scene.folder, is_signed=True), state="running")
    scene.until(*DONE)
    assert (scene.steps.progress.phase, scene.fetched) == ("cancelled", set())


def test_a_new_process_follows_the_record_that_was_verified_before_it_started(scene: Scene) -> None:
    scene.until("fetching")
    scene.order(model=other_model(scene.folder, is_signed=False))
    scene.start()
    scene.until(*DONE)
    assert (scene.steps.progress.phase, scene.fetched) == ("cancelled", set())


def test_a_reload_that_is_refused_while_promoting_ends_in_a_roll_back_after_the_stated_time(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "ANSWERS_S", 0.3)
    monkeypatch.setattr(steps, "AGAIN_S", 0.05)
    scene.daemon.refused.add(NEW)
    scene.until(*DONE)
    assert (scene.steps.progress.phase, scene.target) == ("rolled_back", "first.onnx")
    assert scene.message == (
        "it could not be promoted within 0.3 s: the daemon keeps its model: this one cannot be opened"
    )


def test_a_file_that_was_damaged_after_its_trial_is_fetched_again_before_it_answers(scene: Scene) -> None:
    scene.until("ready")
    scene.board.path_of(scene.rollout.model).write_bytes(OTHER)
    scene.until(*DONE)
    assert (scene.steps.progress.phase, scene.target) == ("promoted", "net-2.onnx")
    assert scene.board.link.read_bytes() == NEW


def test_a_pause_holds_the_beginning_and_the_promotion(scene: Scene) -> None:
    scene.order(state="paused")
    assert [scene.turn() for _ in range(3)] == ["waiting"] * 3
    scene.order(state="running")
    scene.until("trial")
    scene.order(state="paused")
    scene.until("ready")
    assert [scene.turn() for _ in range(3)] == ["ready"] * 3
    assert scene.message == "paused; the trial has passed the gate"
    scene.order(state="running")
    scene.until("promoted")


@pytest.mark.parametrize(("code", "phase"), [(2, "refused"), (3, "refused"), (1, "trial"), (-11, "trial")])
def test_a_trial_that_fails_by_the_model_refuses_it_and_another_failure_is_tried_again(
    scene: Scene, code: int, phase: str
) -> None:
    scene.daemon.trial = code, "", "edged: warning: x\nedged: net-2.onnx: something is wrong\n"
    eventually(lambda: scene.turn() and "something is wrong" in scene.message)
    assert scene.steps.progress.phase == phase
    assert scene.message.endswith("tried again") is (phase == "trial")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"gate": "p98<=2x"}, "there is no metric p98"),
        ({"model": SignedModel(name="n", file="n.onnx", sha256="0" * 64, size=1)}, "it is not signed"),
    ],
)
def test_a_roll_out_that_cannot_be_followed_is_refused(
    scene: Scene, changed: dict[str, str], message: str
) -> None:
    scene.order(**changed)
    scene.until(*DONE)
    assert scene.steps.progress.phase == "refused"
    assert message in scene.message
    assert scene.daemon.commands == []


def test_the_next_roll_out_begins_anew(scene: Scene) -> None:
    scene.until("promoted")
    scene.order(id="b")
    scene.until("promoted")
    assert (scene.steps.progress.rollout, scene.message) == ("b", "it answered here already")
