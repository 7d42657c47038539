"""An exception in each thread of a whole hub: it says so, serves again, and loses no frame from its accounts."""

import os
import pkgutil
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args
from urllib.request import urlopen

import pytest
import zmq

from edged.client.subscription import Subscription
from edged.config.load import load_config
from edged.hub.service_threads import ServiceName
from edged.messages import Event, ReplayRequest
from tests.client.hub_end import fetch
from tests.eventually import LIMIT_S, eventually, in_background
from tests.hub.running import Run

# `notify` runs where the config has that section, and is idle without an event: see test_notifier
SERVICES = tuple(name for name in get_args(ServiceName) if name != "notify")
CALLED_EACH_TURN = {
    "guard": "edged.hub.links.guard:Endpoint.listen",
    "host": "edged.system.host_watch:read",
    "journal": "edged.hub.journal.store:JournalStore.add",
    "journal_sync": "edged.hub.journal.writer:JournalSync._sync",
    "metrics": "edged.hub.stats.metrics_server:Scrapes.service_actions",
    "replay": "edged.hub.publish.replay:Replay._serve",
    "stream": "edged.hub.publish.sender:send_parts",
}


class Injected(Exception):  # noqa: N818 - it is no error of ours
    """What a test raises in a thread."""


class Faults:
    """Raises `Injected` in the next turn of a service, once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._due: set[str] = set()
        for service, function in CALLED_EACH_TURN.items():
            called = self._failing(service, pkgutil.resolve_name(function))
            monkeypatch.setattr(function.replace(":", "."), called)

    def inject(self) -> None:
        """Let each service fail in its next turn."""
        self._due = set(SERVICES)

    def _failing(self, service: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def called(*arguments: Any) -> Any:
            if service in self._due and threading.current_thread().name == service:
                self._due.remove(service)
                raise Injected
            return function(*arguments)

        return called


def of_services(events: list[Event], what: str) -> set[str]:
    """The services of which events tell that."""
    return {each.message.split()[1] for each in events if each.event == what}


@pytest.mark.deep
def test_an_exception_in_each_thread_of_the_hub_is_reported_and_each_serves_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = Faults(monkeypatch)
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
            eventually(lambda: events)
            eventually(fetches)
            faults.inject()
            assert fetches()
            eventually(lambda: of_services(events, "service_failed") == set(SERVICES))
            eventually(lambda: of_services(events, "service_recovered") == set(SERVICES))
            assert fetches()
            with zmq.Context() as context:
                subscription = Subscription(context, config.publish.address)
                eventually(lambda: subscription.receive(10))
                subscription.close()
            with urlopen(f"http://{config.metrics.address}/metrics", timeout=LIMIT_S) as answer:
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
