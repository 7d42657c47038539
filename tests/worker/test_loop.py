"""The loop against a hub's real socket: every job is answered, whatever the device does."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from edged.clock import NANOSECONDS, now_ns
from edged.energy.bounded import BOUND_S
from edged.energy.meter import Meter
from edged.energy.rails import Rail
from edged.errors import DeviceError, DeviceMemoryError, MessageError
from edged.messages import (
    IdleEnergy,
    Job,
    JobFailed,
    LinkMessage,
    ModelInfo,
    Scores,
    Stop,
    WorkerHello,
    decode,
    encode,
)
from edged.model import reference
from edged.model.model_part import Features, Images, ModelPart
from edged.model.scores import ScoreRule
from edged.runtime.base import ModelRuntime
from edged.runtime.numpy_runtime import NumpyPending, NumpyResult, NumpyRuntime
from edged.transport.hub_link import open_hub_link
from edged.worker import loop
from edged.worker.completion import Completions
from edged.worker.job_io import Served
from edged.worker.loop import ANSWERS, Loop
from edged.worker.warm_up import SelfCheck
from tests.energy.time_limit import passes_at_pipes_alone
from tests.eventually import LIMIT_S, eventually
from tests.link_ends import HubEnd
from tests.worker.networks import CLASSES, INPUT, dense_network, pictures

HELLO = WorkerHello(
    worker="w",
    device="NumPy",
    precision="fp32",
    batch=4,
    credit=2,
    model=ModelInfo(name="m", sha256="0", labels=("a",), width=INPUT.width, height=INPUT.height),
    energy="none",
)
LOGITS = ScoreRule(CLASSES, "logits", "network", "softmax")
SHARES = ScoreRule(CLASSES, "probabilities", "network", "none")
WHOLE = Served((INPUT.height, INPUT.width, 3), batch=4, rule=LOGITS)


class Hub:
    """A hub's end of the link, with a worker's loop at the other."""

    def __init__(self, runtime: ModelRuntime, known: SelfCheck, meter: Meter, served: Served) -> None:
        self._folder = TemporaryDirectory()
        address = f"unix://{self._folder.name}/hub"
        self._end = HubEnd(address)
        self._link = open_hub_link("worker/w", address, queued=ANSWERS)
        served_by = Loop(runtime, served, known, meter)
        self.raised: Exception | None = None
        self._thread = threading.Thread(target=self._run, args=(served_by,))
        self._thread.start()
        assert self._receive() == HELLO

    def _run(self, served_by: Loop) -> None:
        try:
            served_by.run(self._link, HELLO)
        except Exception as error:
            self.raised = error

    def ask(self, number: int, images: Images, top: int = 3, timeout_s: float = 60) -> None:
        job = Job(job=number, frames=len(images), top=top, timeout_s=timeout_s)
        self.send(encode(job), *[image.tobytes() for image in images])

    def send(self, *parts: bytes) -> None:
        self._end.send(*parts)

    def answer(self) -> Scores | JobFailed:
        while isinstance(answer := self._receive(), IdleEnergy):
            continue
        assert isinstance(answer, Scores | JobFailed)
        return answer

    def idle_energy(self) -> dict[str, float]:
        told = self._receive()
        assert isinstance(told, IdleEnergy)
        return told.rails

    def _receive(self) -> LinkMessage:
        parts = self._end.receive()
        assert parts, "no answer"
        return decode(parts[0])

    def end(self, stop: Stop) -> None:
        self.send(encode(stop))
        self._thread.join(LIMIT_S)
        assert not self._thread.is_alive()
        self._link.close()
        self._end.close()
        self._folder.cleanup()


@contextmanager
def serving(
    runtime: ModelRuntime,
    *,
    known: SelfCheck | None = None,
    meter: Meter | None = None,
    served: Served = WHOLE,
) -> Iterator[Hub]:
    hub = Hub(runtime, known or asked_just_now(), meter or Meter([]), served)
    try:
        yield hub
    finally:
        hub.end(Stop())


def asked_just_now() -> SelfCheck:
    return SelfCheck(pictures(1), np.zeros((1, CLASSES), np.float32))


def remembered(weight: float | None = None, asked_s_ago: float = 3600) -> SelfCheck:
    """The answer of a network whose weights are all `weight`."""
    images = pictures(1)
    outputs = numpy_runtime(weight).submit(images).wait().outputs
    return SelfCheck(images, outputs, now_ns() - round(asked_s_ago * NANOSECONDS))


def numpy_runtime(weight: float | None = None) -> NumpyRuntime:
    return NumpyRuntime(ModelPart(dense_network(weight=weight), INPUT))


def test_a_job_of_several_frames_is_answered_frame_by_frame() -> None:
    images = pictures(3)
    expected = reference.softmax(reference.run(dense_network(), reference.prepare(images, INPUT)))

    with serving(numpy_runtime()) as hub:
        hub.ask(7, images, top=CLASSES)
        scores = hub.answer()

    assert isinstance(scores, Scores)
    assert scores.job == 7
    for frame, shares in zip(scores.frames, expected, strict=True):
        assert [score.index for score in frame] == list(np.argsort(-shares))
        assert [score.score for score in frame] == pytest.approx(sorted(shares, reverse=True), abs=1e-6)


def test_what_is_a_probability_already_stays_as_it_is() -> None:
    shares = ModelPart(dense_network(softmax=True), INPUT)
    with serving(NumpyRuntime(shares), served=replace(WHOLE, rule=SHARES)) as hub:
        hub.ask(0, pictures(1), top=CLASSES)
        scores = hub.answer()

    assert isinstance(scores, Scores)
    assert sum(score.score for score in scores.frames[0]) == pytest.approx(1, abs=1e-5)


def test_jobs_are_answered_in_their_order_and_late_ones_too() -> None:
    with serving(numpy_runtime()) as hub:
        for number in range(20):
            hub.ask(number, pictures(1, seed=number))  # its deadline has passed when it arrives
        answers = [hub.answer() for _ in range(20)]

    assert [answer.job for answer in answers] == list(range(20))
    assert all(isinstance(answer, Scores) for answer in answers)


def test_the_next_job_is_submitted_while_the_one_before_runs() -> None:
    runtime = GatedRuntime()
    with serving(runtime) as hub:
        hub.ask(0, pictures(1))
        hub.ask(1, pictures(1))

        assert runtime.second_submitted.wait(LIMIT_S), "job 1 waits for job 0"
        runtime.may_finish.set()
        assert [hub.answer().job, hub.answer().job] == [0, 1]


def test_a_worker_whose_device_hangs_ends_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    runtime, close = GatedRuntime(), Completions.close

    def answers_while_its_thread_is_waited_for(completions: Completions) -> None:
        runtime.may_finish.set()
        close(completions, LIMIT_S)

    monkeypatch.setattr(Completions, "close", answers_while_its_thread_is_waited_for)
    monkeypatch.setattr(loop, "killed_after", nullcontext)  # it would end the test where the machine is busy
    with serving(runtime) as hub:
        hub.ask(0, pictures(1), timeout_s=0.2)
        assert "has not answered within 0.4 s: it hangs" in str(eventually(lambda: hub.raised))


def test_scores_that_are_no_numbers_are_never_answered() -> None:
    with serving(numpy_runtime(weight=np.nan)) as hub:
        hub.ask(3, pictures(2))
        failed = hub.answer()

    assert isinstance(failed, JobFailed)
    assert (failed.job, failed.reason) == (3, "not_finite")
    assert "10 of the network's 10 outputs" in failed.error


def test_a_device_that_no_longer_gives_the_answer_that_it_gave_at_its_start_has_failed() -> None:
    with serving(numpy_runtime(weight=np.nan), known=remembered(weight=0.5, asked_s_ago=2)) as hub:
        hub.ask(1, pictures(1))
        failed = hub.answer()

    assert isinstance(failed, JobFailed)
    assert failed.reason == "device_error"
    assert "no longer gives the answer that it gave at its start" in failed.error


def test_an_answer_that_is_wrong_without_nan_is_found_a_minute_later() -> None:
    with serving(numpy_runtime(weight=0.6), known=remembered(weight=0.5, asked_s_ago=61)) as hub:
        hub.ask(1, pictures(1))
        failed = hub.answer()

    assert isinstance(failed, JobFailed)
    assert failed.reason == "device_error"


def test_where_the_network_itself_answers_with_nan_the_frame_alone_is_to_blame() -> None:
    with serving(numpy_runtime(weight=np.nan), known=remembered(weight=np.nan)) as hub:
        hub.ask(1, pictures(1))
        failed = hub.answer()

    assert isinstance(failed, JobFailed)
    assert failed.reason == "not_finite"


def test_a_device_that_answers_as_at_its_start_is_trusted_up_to_rounding() -> None:
    with serving(numpy_runtime(weight=0.5 * (1 + 1e-5)), known=remembered(weight=0.5)) as hub:
        hub.ask(1, pictures(1))

        assert isinstance(hub.answer(), Scores)


@pytest.mark.parametrize("error", [DeviceMemoryError("no more"), MemoryError()])
def test_a_worker_without_memory_ends(error: Exception) -> None:
    hub = Hub(FailingOnce("wait", error), asked_just_now(), Meter([]), WHOLE)
    hub.ask(1, pictures(1))

    assert eventually(lambda: hub.raised) is error
    hub.end(Stop())


@pytest.mark.parametrize("when", ["submit", "wait"])
def test_a_device_that_fails_fails_the_job_and_the_next_one_is_tried(when: str) -> None:
    with serving(FailingOnce(when)) as hub:
        hub.ask(1, pictures(1))
        hub.ask(2, pictures(1))
        answers = {answer.job: answer for answer in (hub.answer(), hub.answer())}

    failed = answers[1]
    assert isinstance(failed, JobFailed)
    assert (failed.reason, failed.error) == ("device_error", "the queue is gone")
    assert isinstance(answers[2], Scores)


def test_a_frame_of_the_wrong_size_is_refused_with_both_sizes() -> None:
    with serving(numpy_runtime()) as hub:
        hub.send(encode(Job(job=5, frames=1, top=1, timeout_s=60)), b"short")
        failed = hub.answer()

    assert isinstance(failed, JobFailed)
    assert "5 bytes; expected 3 × 4 × 3 = 36" in failed.error


@pytest.mark.parametrize(("frames", "payloads"), [(1, 0), (2, 1), (1, 2), (3, 3)])
def test_a_job_with_payloads_missing_or_too_many_for_the_batch_is_refused(frames: int, payloads: int) -> None:
    with serving(numpy_runtime(), served=replace(WHOLE, batch=2)) as hub:
        job = Job(job=5, frames=frames, top=1, timeout_s=60)
        hub.send(encode(job), *[pictures(1).tobytes()] * payloads)
        failed = hub.answer()

    assert isinstance(failed, JobFailed)
    assert "expected 1 to 2, a payload each" in failed.error


def test_a_part_behind_a_cut_takes_the_features_of_all_frames_in_one_payload() -> None:
    features = np.ones((2, 36), np.float32)
    behind, shape = dense_network(), (3, INPUT.height, INPUT.width)
    with serving(
        NumpyRuntime(ModelPart(behind, None)), served=Served(shape, batch=4, rule=LOGITS, takes_features=True)
    ) as hub:
        hub.send(encode(Job(job=1, frames=2, top=1, timeout_s=60)), features.tobytes())
        hub.send(encode(Job(job=2, frames=2, top=1, timeout_s=60)), features[:1].tobytes())
        hub.send(encode(Job(job=3, frames=2, top=1, timeout_s=60)), *[features[:1].tobytes()] * 2)
        answers = [hub.answer() for _ in range(3)]

    good, *bad = sorted(answers, key=lambda answer: answer.job)
    assert isinstance(good, Scores)
    assert len(good.frames) == 2
    assert [failed.error for failed in bad if isinstance(failed, JobFailed)] == [
        "features of 144 bytes; expected 2 × 3 × 3 × 4 × 4 = 288",
        "2 frames with 2 payloads; expected 1 to 4, one payload for all",
    ]


def test_a_part_that_ends_at_a_cut_never_answers_with_nan() -> None:
    served = Served((INPUT.height, INPUT.width, 3), batch=4, rule=LOGITS, gives_features=True)
    with serving(numpy_runtime(weight=np.nan), served=served) as hub:
        hub.ask(3, pictures(1))
        failed = hub.answer()

    assert isinstance(failed, JobFailed)
    assert failed.reason == "not_finite"


def test_what_is_no_message_is_left_aside(caplog: pytest.LogCaptureFixture) -> None:
    with serving(numpy_runtime()) as hub:
        hub.send(b"{not json")
        hub.send(b'{"kind": "coffee"}', b"payload")
        hub.ask(1, pictures(1))

        assert hub.answer().job == 1
    assert caplog.text.count("is ignored") == 2


def test_a_hub_that_refuses_the_worker_ends_it_with_the_reason() -> None:
    hub = Hub(numpy_runtime(), asked_just_now(), Meter([]), WHOLE)

    hub.end(Stop(refused="protocol 1 is too old"))

    assert isinstance(hub.raised, MessageError)
    assert "protocol 1 is too old" in str(hub.raised)


def test_the_joules_of_all_jobs_are_what_the_rail_has_counted(tmp_path: Path) -> None:
    rail = Rail("GPU", tmp_path / "energy1_input")
    rail.path.write_text("0")
    spending = SpendingRuntime(rail, joules_each=0.25)

    with serving(spending, meter=Meter([rail])) as hub:
        for number in range(4):
            hub.ask(number, pictures(1))
        answers = [hub.answer() for _ in range(4)]

    assert sum(answer.joules or 0 for answer in answers if isinstance(answer, Scores)) == pytest.approx(1.0)
    assert sum(answer.rails["GPU"] for answer in answers if isinstance(answer, Scores)) == pytest.approx(1.0)


def test_a_rail_that_blocks_delays_one_answer_by_the_bound_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed = passes_at_pipes_alone(monkeypatch)
    gpu, big = [Rail(name, tmp_path / name) for name in ("GPU", "BIG")]
    for rail in (gpu, big):
        rail.path.write_text("0")

    with serving(numpy_runtime(), meter=Meter([gpu, big], attributed_rails=("GPU",))) as hub:
        big.path.unlink()
        os.mkfifo(big.path)
        for number in range(20):
            hub.ask(number, pictures(1))
        answers = [hub.answer() for _ in range(20)]

    assert [answer.job for answer in answers] == list(range(20))
    assert all(isinstance(answer, Scores) and answer.joules == 0 for answer in answers)
    assert passed == [BOUND_S]


def test_without_jobs_the_rails_are_reported_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "ENERGY_REPORT_S", 0.01)
    rail = Rail("GPU", tmp_path / "energy1_input")
    rail.path.write_text("0")

    with serving(numpy_runtime(), meter=Meter([rail])) as hub:
        hub.ask(1, pictures(1))
        answered = hub.answer()
        rail.path.write_text("500000")
        told = hub.idle_energy()
        while not told["GPU"]:
            told = hub.idle_energy()

    assert told == {"GPU": 0.5}
    assert isinstance(answered, Scores)
    assert answered.rails == {"GPU": 0.0}


class GatedRuntime(NumpyRuntime):
    """Finishes nothing before it may; notices the second submission."""

    def __init__(self) -> None:
        super().__init__(ModelPart(dense_network(), INPUT))
        self.submitted = 0
        self.second_submitted = threading.Event()
        self.may_finish = threading.Event()

    def submit(self, frames: Images | Features, *, features: bool = False, by_layer: bool = False) -> NumpyPending:
        self.submitted += 1
        if self.submitted == 2:
            self.second_submitted.set()
        gate = self.may_finish

        class Gated(NumpyPending):
            def wait(self) -> NumpyResult:
                assert gate.wait(LIMIT_S)
                return super().wait()

        return Gated(self._part, frames)


class FailingOnce(NumpyRuntime):
    """Its first job fails when it is submitted, or later."""

    def __init__(self, when: str, error: Exception | None = None) -> None:
        super().__init__(ModelPart(dense_network(), INPUT))
        self._fails: str | None = when
        self._error = error or DeviceError("the queue is gone")

    def submit(self, frames: Images | Features, *, features: bool = False, by_layer: bool = False) -> NumpyPending:
        when, self._fails = self._fails, None
        if when == "submit":
            raise self._error
        error = self._error

        class Failing(NumpyPending):
            """A forward pass that fails."""

            def wait(self) -> NumpyResult:
                raise error

        return Failing(self._part, frames) if when else super().submit(frames)


class SpendingRuntime(NumpyRuntime):
    """Each forward pass adds joules to a rail."""

    def __init__(self, rail: Rail, joules_each: float) -> None:
        super().__init__(ModelPart(dense_network(), INPUT))
        self._rail = rail
        self._joules = joules_each

    def submit(self, frames: Images | Features, *, features: bool = False, by_layer: bool = False) -> NumpyPending:
        rail, joules = self._rail, self._joules

        class Spending(NumpyPending):
            def wait(self) -> NumpyResult:
                replacement = rail.path.with_suffix(".new")  # a reader never sees half a number
                replacement.write_text(str(round((rail.read() + joules) * 1e6)))
                replacement.replace(rail.path)
                return super().wait()

        return Spending(self._part, frames)
