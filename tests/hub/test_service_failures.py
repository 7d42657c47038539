"""An exception in each thread of a whole hub: it says so, serves again, and loses no frame from its accounts."""

import ctypes
import os
import signal
import threading
from pathlib import Path
from typing import get_args
from urllib.request import urlopen

import pytest
import zmq

from edged.client.subscription import Subscription
from edged.config.load import load_config
from edged.hub.service_threads import ServiceName
from edged.messages import Event, HostState, ReplayRequest
from edged.system.host_watch import read
from tests.client.hub_end import fetch
from tests.eventually import eventually, in_background
from tests.hub.running import Run

WITHIN_S = 30.0  # on a machine that is busy
SERVICES = get_args(ServiceName)


class Injected(Exception):  # noqa: N818 - it is no error of ours
    """What a test raises in a thread."""


def fail(name: str) -> None:
    """Raise an exception in the thread of this name, as soon as it runs Python."""
    (thread,) = (each for each in threading.enumerate() if each.name == name)
    assert ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread.ident or 0), ctypes.py_object(Injected)
    )


def of_services(events: list[Event], what: str) -> set[str]:
    """The services of which events tell that."""
    return {each.message.split()[1] for each in events if each.event == what}


@pytest.fixture
def _sensors_that_fail_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread that reads them sleeps for seconds: an exception meets it where it reads again."""
    reads: list[Path] = []

    def fail_once(root: Path) -> HostState:
        if root == tmp_path and not reads:
            reads.append(root)
            raise Injected
        return read(root)

    monkeypatch.setattr("edged.system.host_watch.read", fail_once)


@pytest.mark.deep
@pytest.mark.usefixtures("_sensors_that_fail_once")
def test_an_exception_in_each_thread_of_the_hub_is_reported_and_each_serves_again(tmp_path: Path) -> None:
    run = Run(
        *(tmp_path, ["steady"], ["good"]),
        journal={"path": str(tmp_path / "journal.sqlite"), "sync_s": 0.1},
        energy={"sysfs": str(tmp_path)},
    )
    config = load_config(run.path)

    def fetches() -> bool:
        with zmq.Context() as context:
            return any(list(fetch(context, config.publish.replay, ReplayRequest())))

    def inject(_: threading.Event) -> None:
        try:
            eventually(lambda: events, WITHIN_S)
            eventually(fetches, WITHIN_S)
            for name in SERVICES:
                if name != "host":
                    fail(name)
            eventually(lambda: of_services(events, "service_failed") == set(SERVICES), WITHIN_S)
            eventually(lambda: of_services(events, "service_recovered") == set(SERVICES), WITHIN_S)
            assert fetches()
            with zmq.Context() as context:
                subscription = Subscription(context, config.publish.address)
                eventually(lambda: subscription.receive(10), WITHIN_S)
                subscription.close()
            with urlopen(f"http://{config.metrics.address}/metrics", timeout=WITHIN_S) as answer:
                metrics.append(answer.read().decode())
        finally:
            os.kill(os.getpid(), signal.SIGINT)

    metrics: list[str] = []
    with run.events() as events, in_background(inject):
        summary = run.until()
    assert summary["predictions"] > 0
    for name in SERVICES:
        assert f'edged_service_failures_total{{service="{name}"}} 1.0' in metrics[0]
        assert f'edged_service_up{{service="{name}"}} 1.0' in metrics[0]
