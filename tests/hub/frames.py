"""Frames as a camera would send them, for the tests of the hub."""

from collections import Counter

from edged.hub.frames.jobs import Assigned
from edged.hub.frames.queues import Held
from edged.hub.frames.router import Router
from edged.messages import PROTOCOL, CameraCount, CameraHello, Frame, ModelInfo, WorkerHello

HELLO = WorkerHello(
    worker="local-0",
    device="Mali-T624",
    precision="fp32",
    batch=2,
    credit=2,
    model=ModelInfo(name="digits", sha256="0" * 64, labels=("zero", "one"), width=2, height=2),
    energy="measured",
)
PIXELS = b"\0" * 12  # 2 × 2


class CameraEnd:
    """One run of a camera process: counts what it captures and drops."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.captured = 0
        self.dropped: Counter[str] = Counter()

    def count(self) -> CameraCount:
        return CameraCount(captured=self.captured, dropped=dict(self.dropped))

    def drop(self, reason: str) -> None:
        self.captured += 1
        self.dropped[reason] += 1

    def frame(self, at_ns: int = 0) -> Held:
        self.captured += 1
        frame = Frame(
            camera=self.name,
            frame=self.captured - 1,
            captured_at=at_ns / 1e9,
            captured_ns=at_ns,
            capture_s=0.01,
            preprocess_s=0.001,
            width=2,
            height=2,
            count=self.count(),
        )
        return Held(frame, PIXELS)


def next_job(router: Router, now_ns: int) -> Assigned | None:
    """The next job alone."""
    return next(router.assign_all(now_ns), None)


def hello_of(
    camera: str,
    *,
    run: str = "first",
    waits: bool = False,
    is_asked: bool = False,
    can_be_held: bool = False,
    protocol: str | int = PROTOCOL,
) -> CameraHello:
    """Of a process that has captured nothing yet."""
    count = CameraCount(captured=0, dropped={})
    return CameraHello(
        camera=camera,
        run=run,
        count=count,
        awaits_grants=waits,
        awaits_answers=is_asked,
        can_be_held=can_be_held,
        protocol=protocol,
    )
