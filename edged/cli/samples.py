"""What the running daemon sends to a client that teaches: that the session has started, samples, its end."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edged.cli.daemon_client import HEARTBEAT_LIMIT_S, DaemonClient, connect_daemon
from edged.cli.teach_folder import Place, place_of
from edged.errors import ConfigError, EdgedError
from edged.messages import LinkMessage, Stop
from edged.messages.teaching import (
    LONGEST_TEACH_S,
    CropSample,
    TeachEnded,
    TeachProgress,
    TeachRequest,
    TeachStarted,
)
from edged.model.package import Model
from edged.system.plain_text import counted
from edged.system.terminal import StatusLine, warn
from edged.teach.features import Vector
from edged.teach.store_crop import Pixels

EVERY_S = 0.2  # frames that follow each other at once show the same

Frames = NDArray[np.uint8]


def check_started(daemon: DaemonClient, place: Place, model: str) -> TeachStarted:
    """Receive the hub's answer. Raises EdgedError if it refuses, or if its model or folder is another one."""
    begins = receive_started(daemon)
    if begins.base and begins.base.sha256 != model:
        raise EdgedError(
            f"the daemon runs the model {begins.base.sha256[:12]}, {place.file} names {model[:12]}: "
            "restart it, or give the config that it was started with"
        )
    if begins.folder and begins.folder != str(place.folder):
        raise EdgedError(
            f"the daemon keeps versions in {begins.folder}, not in {place.folder}: "
            "run `edged teach` as its user, with its STATE_DIRECTORY (docs/how-to/teaching.md)"
        )
    return begins


def receive_started(daemon: DaemonClient) -> TeachStarted:
    """Receive the hub's answer to a request to teach. Raises EdgedError if it refuses."""
    begins, _ = daemon.receive()
    if not isinstance(begins, TeachStarted):
        raise daemon.unexpected(begins)
    if begins.refused:
        raise EdgedError(begins.refused)
    return begins


def received_from(daemon: DaemonClient) -> Iterator[tuple[LinkMessage, bytes]]:
    """Yield messages with their payloads until the hub ends the session; warn when it waits, and for what."""
    waits = ""
    while True:
        match daemon.receive(HEARTBEAT_LIMIT_S):
            case TeachProgress() as progress, _:
                if progress.waiting_for and progress.waiting_for != waits:
                    warn(progress.waiting_for)
                waits = progress.waiting_for
            case TeachEnded() as ends, _:
                if ends.message:
                    warn(ends.message)
                return
            case message, payload:
                yield message, payload


def samples_from(daemon: DaemonClient) -> Iterator[tuple[CropSample, bytes]]:
    """Yield the samples of a recording with their payloads. Raises EdgedError for another message."""
    for message, payload in received_from(daemon):
        if not isinstance(message, CropSample):
            raise daemon.unexpected(message)
        yield message, payload


def read_sample(sample: CropSample, payload: bytes) -> tuple[Pixels, Vector]:
    """Return the pixels, uint8 RGB [height, width, 3], and the features, float32 [features].

    Raises EdgedError for a payload of the wrong size.
    """
    size = sample.width * sample.height * 3
    if len(payload) != size + 4 * sample.features:
        raise EdgedError(
            f"received a crop of {len(payload)} bytes, expected {size + 4 * sample.features}: "
            "does the daemon run another version of edged?"
        )
    pixels = np.frombuffer(payload[:size], np.uint8).reshape(sample.height, sample.width, 3)
    return pixels, np.frombuffer(payload[size:], "<f4").astype(np.float32)


def live_frames(config: Path | None, camera: str, model: Model, count: int, line: StatusLine) -> Frames:
    """Return the next `count` frames of a camera: uint8 RGB [count, height, width, 3].

    Raises ConfigError if the config has no such camera or its model takes other frames, EdgedError if the daemon
    does not run or ends before.
    """
    place = place_of(config)
    place.require_camera(camera)
    running = place.model()
    ours, theirs = ((each.input.width, each.input.height, each.input.resize) for each in (model, running))
    if ours != theirs:
        raise ConfigError(
            f"{place.file}: frames of {camera} are {_described(theirs)} for {running.name}, but {model.name} "
            f"takes them {_described(ours)}: give pictures by --images instead"
        )
    with connect_daemon(config, "teach") as daemon:
        daemon.send(TeachRequest(mode="record", camera=camera, every_s=EVERY_S, seconds=LONGEST_TEACH_S))
        check_started(daemon, place, running.sha256)
        return np.stack(_received(daemon, camera, count, line))


def _received(daemon: DaemonClient, camera: str, count: int, line: StatusLine) -> list[Frames]:
    frames: list[Frames] = []
    for message, payload in samples_from(daemon):
        frames.append(read_sample(message, payload)[0])
        line.show(f"edged: {len(frames)} of {counted(count, 'frame')} of {camera}")
        if len(frames) == count:
            daemon.send(Stop())
            return frames
    raise EdgedError(f"the daemon ended the recording of {camera} after {len(frames)} of {count} frames")


def _described(taken: tuple[int, int, str]) -> str:
    width, height, resize = taken
    return f"{width}×{height} ({resize})"
