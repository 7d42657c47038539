"""The endpoint that Prometheus and probes read, in a process with its tests."""

import http.client
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from edged.clock import NANOSECONDS, now_ns
from edged.hub.links.authentication import Rejections
from edged.hub.stats import metrics_server
from edged.hub.stats.metrics_server import LIVE_S, Health, Scrapes
from edged.metrics import Metrics
from tests.eventually import LIMIT_S, eventually, free_port
from tests.hub.pipeline import new_services

OPEN_METRICS = {"Accept": "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3"}


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    text: str


class Endpoint:
    """A server with metrics and health of its own."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.metrics = Metrics("1.2.3")
        self.failed: list[str] = []
        self.health = Health(lambda: self.failed)
        rejections = Rejections(self.metrics.peers_rejected)
        self.server = Scrapes("127.0.0.1", port, self.metrics.text, self.health, rejections, None, "gate")

    def get(self, path: str, method: str = "GET", headers: dict[str, str] | None = None) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_S)
        connection.request(method, path, headers=headers or {})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return Answer(answer.status, dict(answer.getheaders()), text)


@contextmanager
def serving(port: int) -> Iterator[Endpoint]:
    endpoint = Endpoint(port)
    endpoint.server.start(new_services())
    try:
        yield endpoint
    finally:
        endpoint.server.stop()


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving(free_port()) as endpoint:
        yield endpoint


def test_it_answers_on_its_address_alone_and_a_second_one_fails(endpoint: Endpoint) -> None:
    answer = endpoint.get("/metrics")
    assert (answer.status, answer.headers["Content-Type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    assert 'edged_build_info{version="1.2.3"} 1.0' in answer.text
    with pytest.raises(OSError, match="in use"), serving(endpoint.port):
        pass


def test_openmetrics_is_served_to_whom_asks_for_it(endpoint: Endpoint) -> None:
    endpoint.metrics.frames.labels("door").inc(3)
    answer = endpoint.get("/metrics?from=prometheus", headers=OPEN_METRICS)
    assert answer.headers["Content-Type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    families = {family.name: family for family in text_string_to_metric_families(answer.text)}  # type: ignore[no-untyped-call]
    (sample,) = families["edged_frames"].samples
    assert families["edged_frames"].type == "counter"
    assert (sample.name, sample.labels["camera"], sample.value) == ("edged_frames_total", "door", 3)


@pytest.mark.parametrize("path", ["/", "/metric", "/metrics/more", "/favicon.ico"])
def test_another_path_is_not_found_and_says_which_there_are(endpoint: Endpoint, path: str) -> None:
    answer = endpoint.get(path)
    assert answer.status == 404
    assert "/metrics, /targets, /healthz and /readyz" in answer.text


@pytest.mark.parametrize(
    ("host", "target"),
    [
        ("127.0.0.1:9464", "127.0.0.1:9464"),
        ("juno-01.example:9464", "juno-01.example:9464"),
        ("edged_hub_1:9464", "edged_hub_1:9464"),
        ("[::1]:9464", "[::1]:9464"),
        ("juno-01", "juno-01:80"),
        ("[fe80::0:1]", "[fe80::1]:80"),
    ],
)
def test_prometheus_finds_the_node_where_it_asked_for_it(endpoint: Endpoint, host: str, target: str) -> None:
    answer = endpoint.get("/targets", headers={"Host": host})
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json; charset=utf-8")
    assert json.loads(answer.text) == [{"targets": [target], "labels": {"node": "gate"}}]


@pytest.mark.parametrize(
    "host",
    [
        *("", ":9464", "gate:", "gate:0", "gate:65536", "gate:٣", "gate:9464/x", "a b:1", "user@gate:1"),
        *("[::1", "::1:9464", "[fe80::1%eth0]:1", "[gate]:1", "-gate:1", "gate,yard:1", "a" * 254 + ":1", '"};{"'),
    ],
)
def test_a_header_host_that_is_no_address_is_a_bad_request(endpoint: Endpoint, host: str) -> None:
    answer = endpoint.get("/targets", headers={"Host": host.encode().decode("latin-1")})
    assert (answer.status, "one header Host" in answer.text) == (400, True)


@pytest.mark.parametrize("headers", ["", "Host: gate:1\r\nHost: yard:1\r\n"])
def test_no_header_host_and_two_of_them_are_bad_requests(endpoint: Endpoint, headers: str) -> None:
    with socket.create_connection(("127.0.0.1", endpoint.port), LIMIT_S) as connection:
        connection.sendall(f"GET /targets HTTP/1.1\r\n{headers}\r\n".encode())
        assert connection.makefile("rb").readline().split()[1] == b"400"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_what_would_change_something_is_not_allowed(endpoint: Endpoint, method: str) -> None:
    answer = endpoint.get("/metrics", method)
    assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD")


def test_head_answers_as_get_does_without_the_text(endpoint: Endpoint) -> None:
    whole, head = endpoint.get("/healthz"), endpoint.get("/healthz", "HEAD")
    assert (head.status, head.text) == (200, "")
    assert head.headers["Content-Length"] == str(len(whole.text))


def test_ready_is_a_hub_with_a_worker_whose_threads_all_run(endpoint: Endpoint) -> None:
    assert (endpoint.get("/readyz").status, endpoint.get("/readyz").text) == (503, "no worker is ready\n")
    endpoint.health.report(now_ns(), ready=True)
    assert (endpoint.get("/readyz").status, endpoint.get("/readyz").text) == (200, "ok\n")
    endpoint.failed.append("replay")
    assert (endpoint.get("/readyz").status, endpoint.get("/readyz").text) == (503, "failed: replay\n")
    assert endpoint.get("/healthz").status == 200  # a restart would not help


def test_a_hub_whose_loop_has_stalled_is_neither_live_nor_ready(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert endpoint.get("/healthz").status == 200  # it starts
    now = now_ns()
    monkeypatch.setattr(metrics_server, "now_ns", lambda: now)  # of the answers, which may take a while
    endpoint.health.report(now - round((LIVE_S + 1) * NANOSECONDS), ready=True)
    for path in ("/healthz", "/readyz"):
        answer = endpoint.get(path)
        assert (answer.status, answer.text) == (503, "the hub's loop has not turned for 11 s\n")


def test_a_probe_is_not_counted_as_a_rejected_peer_but_nonsense_is(endpoint: Endpoint) -> None:
    def rejected() -> list[str]:
        lines = endpoint.get("/metrics").text.splitlines()
        return [line for line in lines if line.startswith("edged_peers_rejected_total{")]

    for path, method in (("/", "GET"), ("/readyz", "GET"), ("/metrics", "POST"), ("/healthz", "HEAD")):
        endpoint.get(path, method)
    socket.create_connection(("127.0.0.1", endpoint.port)).close()
    assert rejected() == []
    with socket.create_connection(("127.0.0.1", endpoint.port)) as connection:
        connection.sendall(b"nonsense of a stranger, at length\r\n\r\n")
        eventually(rejected)
