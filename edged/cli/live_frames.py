"""Frames of the running daemon's camera, as a network receives them, to calibrate and to judge others."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edged.cli.daemon_client import DaemonClient, connect_daemon
from edged.cli.teach.folder import place_of
from edged.cli.teach.samples import check_started, read_sample, samples_from
from edged.cli.terminal import StatusLine
from edged.errors import ConfigError, EdgedError
from edged.messages import Stop
from edged.messages.teaching import LONGEST_TEACH_S, TeachRequest
from edged.model.package import Model

EVERY_S = 0.2  # frames that follow each other at once show the same

Frames = NDArray[np.uint8]


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
        line.show(f"edged: {len(frames)} of {count} frames of {camera}")
        if len(frames) == count:
            daemon.send(Stop())
            return frames
    raise EdgedError(f"the daemon ended the recording of {camera} after {len(frames)} of {count} frames")


def _described(taken: tuple[int, int, str]) -> str:
    width, height, resize = taken
    return f"{width}×{height} ({resize})"
