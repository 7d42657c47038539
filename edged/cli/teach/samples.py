"""What the running daemon sends to a client that teaches: that the session has started, samples, its end."""

from collections.abc import Iterator

import numpy as np

from edged.cli.daemon_client import HEARTBEAT_LIMIT_S, DaemonClient
from edged.cli.teach.folder import Place
from edged.cli.terminal import warn
from edged.errors import EdgedError
from edged.messages import LinkMessage
from edged.messages.teaching import CropSample, TeachEnded, TeachProgress, TeachStarted
from edged.teach.features import Vector
from edged.teach.store_crop import Pixels


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
