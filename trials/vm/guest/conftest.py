"""Fixtures of the tests in the machine."""

import time
from collections.abc import Iterator

import pytest

from tests.systemd.inside.unit import DROP_IN, systemctl
from trials.vm.guest import vivid
from trials.vm.guest.listener import Listener
from trials.vm.guest.service import start, write_config


@pytest.fixture
def camera() -> None:
    """The V4L2 camera is there, and nothing is wrong with it."""
    vivid.load()
    if not vivid.is_plugged():
        vivid.plug()


@pytest.fixture
def listener(camera: None) -> Iterator[Listener]:
    """The service runs as it is installed, and both of its cameras give predictions."""
    changed = write_config()
    start()
    if changed:  # by a test before this one
        systemctl("reload", "edged")
    listener = Listener()
    listener.start()
    begun = time.monotonic()
    for name in ("door", "calm"):
        listener.next_prediction(name, begun)
    yield listener
    listener.stop()
    if DROP_IN.exists():
        DROP_IN.unlink()
        systemctl("daemon-reload")
