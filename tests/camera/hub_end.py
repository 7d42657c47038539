"""The hub's end of the link, by hand, to which a real camera process talks."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from edged.messages import (
    CameraCount,
    CameraHello,
    CameraReport,
    Capture,
    Frame,
    Grant,
    LinkMessage,
    Snapshot,
    Stop,
    decode,
    encode,
)
from edged.pictures.prepare import Pixels
from edged.system.process_end import PARENT
from tests.eventually import LIMIT_S, TURN_MS, TURN_S, eventually
from tests.link_ends import HubEnd as LinkEnd

SIDE = 32


@dataclass(frozen=True)
class Received:
    """A frame with its pixels."""

    frame: Frame
    pixels: Pixels


class HubEnd:
    """Keeps everything that the camera says."""

    def __init__(self, address: str) -> None:
        self._link = LinkEnd(address)
        self.hello: CameraHello | None = None
        self.frames: list[Received] = []
        self.reports: list[CameraReport] = []
        self.snapshots: list[tuple[Snapshot, bytes]] = []

    def send(self, message: LinkMessage) -> None:
        """To the camera that has said hello."""
        self._link.send(encode(message))

    def listen(self, within_ms: int = TURN_MS) -> None:
        """Take in what has come, waiting so long for the first."""
        while self.listen_once(within_ms):
            within_ms = 0

    def listen_once(self, within_ms: int = TURN_MS) -> bool:
        """Take in one message; False if none has come in time."""
        parts = self._link.receive(within_ms)
        if parts is None:
            return False
        header, *payloads = parts
        self._take(decode(header), payloads)
        return True

    def start(self, camera: str, side: int) -> None:
        """Wait for the camera's hello and answer it."""
        eventually(self.has_hello)
        assert self.hello
        assert self.hello.camera == camera
        assert self._link.peer == f"camera/{camera}"
        self.send(Capture(width=side, height=side))

    def last_report(self) -> CameraReport | None:
        """The newest report, after listening."""
        self.listen()
        return self.reports[-1] if self.reports else None

    def has_hello(self) -> bool:
        """Whether the camera has said hello, after listening."""
        self.listen()
        return self.hello is not None

    def has_frames(self, at_least: int = 1) -> bool:
        """Whether so many frames have come, after listening."""
        self.listen()
        return len(self.frames) >= at_least

    def has_ended(self) -> bool:
        """Whether the last report has come, after listening."""
        report = self.last_report()
        return report is not None and report.ended

    def dropped_slowly(self) -> dict[str, int]:
        """What the camera has dropped, by the newest frame, after a pause and taking in one message only."""
        threading.Event().wait(TURN_S)
        self.listen_once()
        return self.frames[-1].frame.count.dropped if self.frames else {}

    def close(self) -> None:
        """Gone."""
        self._link.close()

    def _take(self, message: LinkMessage, payload: list[bytes]) -> None:
        match message:
            case CameraHello():
                self.hello = message
            case CameraReport():
                self.reports.append(message)
            case Snapshot():
                [jpeg] = payload
                self.snapshots.append((message, jpeg))
            case Frame(width=width, height=height):
                pixels = np.frombuffer(payload[0], np.uint8).reshape(height, width, 3)
                self.frames.append(Received(message, pixels))
            case _:
                raise AssertionError(f"not from a camera: {message}")


@dataclass(frozen=True)
class CameraRun:
    """A running camera process and the hub's end of its link."""

    hub: HubEnd
    process: subprocess.Popen[str]

    def stop(self) -> CameraReport:
        """Say stop and return the last report."""
        self.hub.send(Stop())
        return self.last_words()

    def last_words(self) -> CameraReport:
        """The report that has `ended`, after the process has gone with exit code 0."""
        eventually(self.hub.has_ended)
        assert self.process.wait(LIMIT_S) == 0
        return self.hub.reports[-1]


@contextmanager
def running_camera(
    folder: Path, camera: str, settings: str, capture: bool = True, side: int = SIDE
) -> Iterator[CameraRun]:
    """`edged camera door` with the `settings` of the config (YAML flow mapping); killed at the end.

    `capture`: answer its hello at once, with `side` × `side`.
    """
    config = folder / "edged.yaml"
    config.write_text(f"cameras: {{{camera}: {settings}}}\n")
    address = f"unix://{folder}/hub"
    hub = HubEnd(address)
    command = [sys.executable, "-m", "edged", "camera", camera, "--config", str(config), "--hub", address]
    environment = {**os.environ, PARENT: str(os.getpid())}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        if capture:
            hub.start(camera, side)
        yield CameraRun(hub, process)
    finally:
        process.kill()
        process.communicate()
        hub.close()


def unaccounted(count: CameraCount, frames: int) -> int:
    """Pictures of which nobody knows what became of them."""
    return count.captured - frames - sum(count.dropped.values())


def grant(hub: HubEnd, frames: int = 1) -> None:
    """Let the camera capture so many more."""
    hub.send(Grant(frames=frames))


def down_report(camera: CameraRun) -> CameraReport | None:
    """Return the newest report if it says that the camera is down."""
    report = camera.hub.last_report()
    return report if report and report.error and not report.up else None
