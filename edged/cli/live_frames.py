"""Frames of the running daemon's camera, as a network receives them, to calibrate and to judge others."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edged.cli.daemon_client import DaemonClient, connect_daemon
from edged.cli.run import config_or_demo
from edged.cli.teach.folder import Place
from edged.cli.teach.record import check_started, received_from
from edged.cli.terminal import StatusLine
from edged.config.load import load_config
from edged.errors import ConfigError, EdgedError
from edged.messages import Stop
from edged.messages.teaching import LONGEST_TEACH_S, CropSample, TeachRequest
from edged.model.head_versions import teach_folder
from edged.model.package import Model

EVERY_S = 0.2  # frames that follow each other at once show the same

Frames = NDArray[np.uint8]


def live_frames(config: Path | None, camera: str, model: Model, count: int, line: StatusLine) -> Frames:
    """Return the next `count` frames of a camera: uint8 RGB [count, height, width, 3].

    Raises ConfigError if the config has no such camera or its model takes other frames, EdgedError if the daemon
    does not run or ends before.
    """
    file = config_or_demo(config)
    place = Place(file, load_config(file), teach_folder(load_config(file).node))
    if camera not in place.config.cameras:
        raise ConfigError(f"{file} has no camera {camera}: it has {', '.join(place.config.cameras)}")
    running = place.model()
    ours, theirs = ((each.input.width, each.input.height, each.input.resize) for each in (model, running))
    if ours != theirs:
        raise ConfigError(
            f"{file}: frames of {camera} are {_described(theirs)} for {running.name}, but {model.name} takes them "
            f"{_described(ours)}: give pictures by --images instead"
        )
    with connect_daemon(config, "teach") as daemon:
        daemon.send(TeachRequest(mode="record", camera=camera, every_s=EVERY_S, seconds=LONGEST_TEACH_S))
        check_started(daemon, place, running.sha256)
        return np.stack(_received(daemon, camera, count, line))


def _received(daemon: DaemonClient, camera: str, count: int, line: StatusLine) -> list[Frames]:
    frames: list[Frames] = []
    for message, payload in received_from(daemon):
        if not isinstance(message, CropSample):
            raise daemon.unexpected(message)
        size = message.height * message.width * 3
        frames.append(np.frombuffer(payload[:size], np.uint8).reshape(message.height, message.width, 3))
        line.show(f"edged: {len(frames)} of {count} frames of {camera}")
        if len(frames) == count:
            daemon.send(Stop())
            return frames
    raise EdgedError(f"the daemon ended the recording of {camera} after {len(frames)} of {count} frames")


def _described(taken: tuple[int, int, str]) -> str:
    width, height, resize = taken
    return f"{width}×{height} ({resize})"
