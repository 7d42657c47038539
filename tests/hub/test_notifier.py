"""Notifications of `notify`, to a real HTTP server that fails, hangs and comes back."""

import json
import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from edged.config import NotifyConfig
from edged.errors import ConfigError
from edged.hub.publish import notifier as notifier_module
from edged.hub.publish.notifier import WAITING, Notifier, Receiver
from edged.messages import Event
from edged.metrics import Metrics
from edged.transport.tls import server_context
from tests.e2e.certificates import new_authority, new_certificate
from tests.eventually import eventually, in_background
from tests.hub.pipeline import new_services
from tests.hub.receivers import NotificationServer
from tests.hub.running import Run, child, while_it_runs


def event(kind: str, message: str = "", camera: str = "door", state: str | None = None) -> Event:
    return Event(node="box", boot="6f1c", at=100.0, event=kind, camera=camera, message=message, state=state)


def sees(state: str, camera: str = "door") -> Event:
    return event("state", f"camera {camera} sees: {state}", camera, state)


class Notifying:
    """A notifier, and its metrics."""

    def __init__(self, notifier: Notifier, metrics: Metrics) -> None:
        self.put = notifier.put
        self.stop = notifier.stop
        self.send_to = notifier.send_to
        self._sample = metrics.registry.get_sample_value

    def total(self, fate: str) -> float | None:
        return self._sample("edged_notifications_total", {"fate": fate})

    @property
    def failures(self) -> float | None:
        return self._sample("edged_notification_failures_total")


def receiver_at(port: int, path: str = "/hook", **settings: Any) -> Receiver:
    return Receiver(NotifyConfig.model_validate({"url": f"http://127.0.0.1:{port}{path}", **settings}))


@contextmanager
def notifying(port: int, path: str = "/hook", **settings: Any) -> Iterator[Notifying]:
    metrics, services = Metrics("test"), new_services()
    notifier = Notifier(services, metrics)
    try:
        notifier.send_to(receiver_at(port, path, **settings))
        yield Notifying(notifier, metrics)
    finally:
        services.close()
        notifier.stop()


@pytest.fixture
def server() -> Iterator[NotificationServer]:
    receiver = NotificationServer()
    with receiver.open():
        yield receiver


def test_a_change_of_a_state_is_sent_as_it_is_published(server: NotificationServer) -> None:
    with notifying(server.port) as notifier:
        notifier.put(sees("shut"))
        notifier.put(sees("open"))
        eventually(lambda: notifier.total("sent") == 1)  # counted after it was taken
    (taken,) = server.taken
    assert taken.path == "/hook"
    assert taken.headers["content-type"] == "application/json"
    sent = json.loads(taken.body)
    assert (sent["event"], sent["node"], sent["camera"], sent["state"]) == ("state", "box", "door", "open")


def test_only_what_has_changed_and_is_wanted_is_sent(server: NotificationServer) -> None:
    with notifying(server.port, format="text") as notifier:
        for each in ("shut", "shut", "open", "open"):
            notifier.put(sees(each))
        notifier.put(sees("shut", "gate"))  # the first state of the gate
        notifier.put(event("camera_down", "camera door is down"))
        notifier.put(sees("unknown"))
        eventually(lambda: len(server.taken) == 2)
    assert server.bodies == [b"camera door sees: open", b"camera door sees: unknown"]
    assert server.taken[0].headers["content-type"] == "text/plain; charset=utf-8"


def test_the_states_of_a_camera_change_independently(server: NotificationServer) -> None:
    def found(name: str, state: str) -> Event:
        message = f"camera door sees: {name} {state}"
        return msgspec.structs.replace(event("state", message, state=state), name=name)

    with notifying(server.port, format="text") as notifier:
        for name, state in (("visitor", "absent"), ("cars", "2"), ("visitor", "absent"), ("cars", "3")):
            notifier.put(found(name, state))
        notifier.put(found("visitor", "present"))
        eventually(lambda: len(server.taken) == 2)
    assert server.bodies == [b"camera door sees: cars 3", b"camera door sees: visitor present"]


def test_cameras_and_workers_are_sent_where_they_are_wanted(server: NotificationServer) -> None:
    with notifying(server.port, format="text", when=["camera", "worker"]) as notifier:
        for kind in ("camera_down", "state", "worker_lost", "config_reloaded", "camera_up"):
            notifier.put(event(kind, kind))
        eventually(lambda: len(server.taken) == 3)
    assert server.bodies == [b"camera_down", b"worker_lost", b"camera_up"]


def test_who_sends_proves_it(server: NotificationServer, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("tk/1\n")
    ways: list[dict[str, Any]] = [
        {"token_file": secret},
        {"user": "me", "password_file": secret},
        {"token_file": secret, "path": "/services/{token}?a=1"},
    ]
    for way in ways:
        with notifying(server.port, when=["camera"], **way) as notifier:
            notifier.put(event("camera_up"))
            eventually(lambda: notifier.total("sent"))
    given = [(each.path, each.headers["authorization"]) for each in server.taken]
    assert given == [("/hook", "Bearer tk/1"), ("/hook", "Basic bWU6dGsvMQ=="), ("/services/tk%2F1?a=1", None)]


@pytest.mark.parametrize("status", [500, 503, 429])
def test_what_fails_is_tried_again_in_its_order(server: NotificationServer, status: int) -> None:
    server.status = status
    with notifying(server.port, format="text", when=["camera"]) as notifier:
        notifier.put(event("camera_down", "down"))
        notifier.put(event("camera_up", "up"))
        eventually(lambda: notifier.failures)
        server.status = 204
        eventually(lambda: notifier.total("sent") == 2)
    assert server.bodies == [b"down", b"up"]


def test_a_receiver_that_is_away_is_named_once_without_its_secret(caplog: pytest.LogCaptureFixture) -> None:
    away = NotificationServer()
    with (
        caplog.at_level(logging.INFO),
        notifying(away.port, "/services/T0/secret", when=["camera"], format="text") as notifier,
    ):
        notifier.put(event("camera_down", "down"))
        eventually(lambda: (notifier.failures or 0) >= 2)
        with away.open():
            eventually(lambda: away.taken)
            eventually(lambda: "takes notifications again" in caplog.text)
    assert caplog.text.count("does not answer: Connection refused; it is tried again") == 1
    assert f"notify: http://127.0.0.1:{away.port}/…" in caplog.text
    assert "secret" not in caplog.text
    assert away.bodies == [b"down"]


def test_a_refusal_is_final(server: NotificationServer, caplog: pytest.LogCaptureFixture) -> None:
    server.status = 404
    with notifying(server.port, format="text", when=["camera"]) as notifier:
        notifier.put(event("camera_down", "down"))
        eventually(lambda: notifier.total("refused") == 1)
        server.status = 200
        notifier.put(event("camera_up", "up"))
        eventually(lambda: notifier.total("sent") == 1)
    assert server.bodies == [b"up"]
    assert "refuses a notification with status 404, and so it is dropped: see notify.url" in caplog.text


def test_a_receiver_that_hangs_costs_only_the_oldest(
    server: NotificationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifier_module, "LIMIT_S", 0.3)
    server.goes_on.clear()
    with notifying(server.port, format="text", when=["camera"]) as notifier:
        for number in range(WAITING + 20):
            notifier.put(event("camera_up", f"{number}"))
        eventually(lambda: notifier.failures)
        assert notifier.total("dropped") == 20
        server.status = 200
        server.goes_on.set()
        eventually(lambda: notifier.total("sent") == WAITING)
    newest = [b"%d" % number for number in range(20, WAITING + 20)]
    assert server.bodies[-len(newest) :] == newest


def test_an_answer_that_never_ends_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notifier_module, "LIMIT_S", 0.3)

    def drip(stop: threading.Event) -> None:
        with closing(listener.accept()[0]) as peer, suppress(OSError):
            peer.sendall(b"HTTP/1.1 2")
            while not stop.wait(0.02):
                peer.sendall(b"x")

    with (
        closing(socket.create_server(("127.0.0.1", 0))) as listener,
        in_background(drip),
        notifying(listener.getsockname()[1], when=["camera"]) as notifier,
    ):
        notifier.put(event("camera_up"))
        eventually(lambda: notifier.failures)


@pytest.mark.parametrize("answer", [b"", b"SSH-2.0-OpenSSH\r\n", b"HTTP/1.1 huge\r\n\r\n", b"\0" * 100])
def test_what_is_no_answer_of_http_is_a_failure(answer: bytes, caplog: pytest.LogCaptureFixture) -> None:
    def reply(_: threading.Event) -> None:
        with closing(listener.accept()[0]) as peer:
            peer.sendall(answer)
            peer.shutdown(socket.SHUT_WR)
            while peer.recv(4096):
                pass

    with (
        closing(socket.create_server(("127.0.0.1", 0))) as listener,
        in_background(reply),
        notifying(listener.getsockname()[1], when=["camera"]) as notifier,
    ):
        notifier.put(event("camera_up"))
        eventually(lambda: notifier.failures)
        eventually(lambda: "does not answer: " in caplog.text)


def test_the_hub_does_not_wait_at_its_end_for_a_receiver_that_hangs(
    server: NotificationServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.goes_on.clear()
    with notifying(server.port, when=["camera"]) as notifier:
        notifier.put(event("camera_up"))
        eventually(lambda: server.asked)
        notifier.stop()
    assert f"notify: not sent to http://127.0.0.1:{server.port}/…: 1 notification" in caplog.text


def test_over_tls_the_receiver_proves_itself(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    new_authority(tmp_path, "authority")
    new_authority(tmp_path, "stranger")
    new_certificate(tmp_path, "server", "authority")
    receiver = NotificationServer(server_context(tmp_path / "server.crt", tmp_path / "server.key", None))
    url, when = f"https://127.0.0.1:{receiver.port}/x", ["camera"]
    with receiver.open():
        with notifying(0, url=url, when=when, ca=tmp_path / "stranger.crt") as notifier:
            notifier.put(event("camera_down"))
            eventually(lambda: notifier.failures)
        assert "certificate verify failed" in caplog.text
        assert receiver.asked == 0
        with notifying(0, url=url, when=when, ca=tmp_path / "authority.crt") as notifier:
            notifier.put(event("camera_up"))
            eventually(lambda: receiver.taken)


def test_another_receiver_gets_what_waits_at_once_and_all_that_follows(
    server: NotificationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifier_module, "Backoff", lambda longest_s: SimpleNamespace(failed=lambda: 3600.0))
    away = NotificationServer()
    with notifying(away.port, when=["camera"]) as notifier:
        notifier.put(event("camera_down", "down"))
        eventually(lambda: notifier.failures)
        notifier.send_to(receiver_at(server.port, format="text"))
        eventually(lambda: server.taken)
        notifier.put(event("camera_up", "up"))  # no longer wanted
        notifier.put(sees("shut"))
        notifier.put(sees("open"))
        eventually(lambda: len(server.taken) == 2)
    assert server.bodies == [b"down", b"camera door sees: open"]


def test_without_a_receiver_nothing_waits_and_a_later_one_knows_the_states(
    server: NotificationServer, caplog: pytest.LogCaptureFixture
) -> None:
    away = NotificationServer()
    with notifying(away.port) as notifier:
        notifier.put(sees("shut"))
        notifier.put(sees("open"))
        eventually(lambda: notifier.failures)
        notifier.send_to(None)
        assert notifier.total("dropped") == 1
        assert f"notify: not sent to http://127.0.0.1:{away.port}/…: 1 notification" in caplog.text
        notifier.put(sees("shut"))
        notifier.send_to(receiver_at(server.port, format="text"))
        notifier.put(sees("open"))
        eventually(lambda: server.taken)
    assert server.bodies == [b"camera door sees: open"]


@pytest.mark.deep
def test_a_reload_changes_the_receiver_unless_its_secret_cannot_be_read(
    server: NotificationServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    run = Run(tmp_path, ["steady"], ["good"])
    notify = {"url": f"http://127.0.0.1:{server.port}/", "when": ["worker"], "format": "text"}

    def reload(**more: Any) -> None:
        config = {**json.loads(run.path.read_text()), "notify": {**notify, **more}}
        run.path.write_text(json.dumps(config))
        os.kill(os.getpid(), signal.SIGHUP)

    def reload_twice() -> None:
        reload(token_file="absent")
        eventually(lambda: "absent: cannot read this password file" in caplog.text)
        reload()
        eventually(lambda: "is applied: settings: notify" in caplog.text)
        child("worker", "0").kill()
        eventually(lambda: server.taken)

    while_it_runs(run, tmp_path, reload_twice)


def test_a_hub_sends_what_it_announces(server: NotificationServer, tmp_path: Path) -> None:
    notify = {"url": f"http://127.0.0.1:{server.port}/", "when": ["worker"], "format": "text"}
    Run(tmp_path, ["steady"], ["good"], notify=notify).once(lambda: server.taken)
    assert server.bodies[0].startswith(b"worker local-0 is ready")


def test_an_unusable_secret_is_an_error_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("naïve")
    with (
        pytest.raises(ConfigError, match="expected a token of ASCII characters"),
        notifying(1, token_file=tmp_path / "token"),
    ):
        pass
    with (
        pytest.raises(ConfigError, match="absent: cannot read this password file"),
        notifying(1, token_file=tmp_path / "absent"),
    ):
        pass
