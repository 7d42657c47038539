"""What the hub sends to a camera whose frames are requests: the model, and an answer to each frame."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from edged.clock import NANOSECONDS, now_ns
from edged.config import CameraConfig
from edged.hub.frames.jobs import Capacity
from edged.hub.publish.sender import AnsweredJob
from edged.messages import (
    CameraCount,
    CameraHello,
    CameraReport,
    FrameAnswer,
    LinkMessage,
    RequestCount,
    Score,
    Scores,
    ServedModel,
    encode,
)
from tests.eventually import eventually
from tests.hub.frames import HELLO, CameraEnd, next_job
from tests.hub.pipeline import PipelineParts, running_pipeline
from tests.link_ends import PeerEnd

LABEL = Score(index=1, score=0.75)
NOTHING = CameraCount(captured=0, dropped={})


@dataclass
class Session:
    """A hub, and the camera's end of the link to it."""

    parts: PipelineParts
    peer: PeerEnd
    end: CameraEnd = field(default_factory=lambda: CameraEnd("frigate"))

    def say(self, message: LinkMessage) -> None:
        self.peer.send(encode(message))
        received = eventually(self.parts.node.links.receive)
        assert received
        self.parts.pipeline.receive_message(received, now_ns())

    def hear(self) -> LinkMessage:
        return self.peer.message()

    def capture(self, at_ns: int) -> int:
        """Let a frame arrive; return its number."""
        held = self.end.frame(at_ns)
        self.parts.node.router.frame_arrived(held, now_ns())
        return held.frame.frame

    def answer(self) -> None:
        """Let a worker answer the frame that waits."""
        router = self.parts.node.router
        router.worker_joins(HELLO.worker, Capacity(credit=1, batch=1))
        assigned = next_job(router, now_ns())
        assert assigned
        router.answered(assigned.job, HELLO.worker, now_ns())
        scores = Scores(
            job=assigned.job, frames=((LABEL,),), upload_s=0.0, forward_s=0.0, download_s=0.0, joules=1.0
        )
        self.parts.publication.publish(AnsweredJob(assigned, scores, HELLO, (), now_ns(), 0.1))

    def sample(self, name: str, **labels: str) -> float | None:
        return self.parts.metrics.registry.get_sample_value(name, {"camera": "frigate", **labels})


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    cameras = {"frigate": CameraConfig(source="frigate:tcp://127.0.0.1:1")}
    with running_pipeline(tmp_path, cameras, keep=1) as parts:
        peer = PeerEnd(f"unix://{tmp_path}/hub", "camera/frigate")
        yield Session(parts, peer)
        peer.close()


def hello(run: str = "first", *, awaits_answers: bool = True) -> CameraHello:
    return CameraHello(camera="frigate", run=run, count=NOTHING, awaits_grants=True, awaits_answers=awaits_answers)


def test_a_camera_gets_the_model_at_its_hello_and_at_each_change(session: Session) -> None:
    answers = session.parts.node.cameras.answers
    answers.serve(HELLO.model, ready=True)
    session.say(hello())
    first = session.hear()
    answers.serve(HELLO.model, ready=True)  # no news
    answers.serve(HELLO.model, ready=False)
    second = session.hear()

    assert isinstance(first, ServedModel)
    assert isinstance(second, ServedModel)
    assert (first.name, first.labels, first.task, first.ready) == ("digits", ("zero", "one"), "classify", True)
    assert not second.ready


def test_the_answer_to_a_frame_is_that_of_its_prediction(session: Session) -> None:
    session.say(hello())
    number = session.capture(now_ns())

    session.answer()
    answer = session.hear()

    assert isinstance(answer, FrameAnswer)
    assert (answer.frame, answer.dropped) == (number, None)
    assert [(label.label, label.score) for label in answer.top] == [("one", 0.75)]


def test_a_frame_that_gets_too_old_is_answered_with_the_reason_although_it_was_granted(session: Session) -> None:
    session.say(hello())
    number = session.capture(now_ns() - 100 * NANOSECONDS)

    session.parts.pipeline.advance(gathers=False)
    answer = session.hear()

    assert isinstance(answer, FrameAnswer)
    assert (answer.frame, answer.dropped) == (number, "stale")
    assert session.parts.node.router.cameras["frigate"].ledger.dropped == {"stale": 1}


def test_an_ordinary_camera_gets_no_answers(session: Session) -> None:
    session.say(hello(awaits_answers=False))
    session.capture(now_ns())
    session.parts.node.router.give_up_all("shutdown")
    session.parts.node.cameras.answers.serve(HELLO.model, ready=True)

    assert session.parts.node.cameras.answers.cameras == set()
    assert not session.peer.poll(0)


def test_requests_are_counted_from_the_totals_of_each_process(session: Session) -> None:
    def report(late: int, refused: dict[str, int]) -> CameraReport:
        return CameraReport(
            camera="frigate", up=True, count=NOTHING, requests=RequestCount(late=late, refused=refused)
        )

    session.say(hello())
    session.say(report(0, {}))
    assert session.sample("edged_serve_late_total") == 0
    session.say(report(2, {"size": 1}))
    session.say(report(3, {"size": 1, "parts": 1}))
    session.parts.node.cameras.left("frigate")  # its process has ended
    session.say(hello("second"))
    session.say(report(1, {"size": 2}))

    assert session.sample("edged_serve_late_total") == 4
    assert session.sample("edged_serve_refused_total", reason="size") == 3
    assert session.sample("edged_serve_refused_total", reason="parts") == 1
