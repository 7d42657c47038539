"""The ways of frames at an OpenTelemetry collector."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from edged.errors import ConfigError, EdgedError
from edged.tracing.frames import FrameWay, Piece
from edged.tracing.otlp import FRAMES, collector_url, send_frames

MS = 1_000_000


class Collector(ThreadingHTTPServer):
    """Takes spans as a collector does, but for `rejected` of each request; `status` is what it answers."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[Any] = []
        self.status, self.rejected = 200, 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def spans(self) -> list[Any]:
        return [
            span
            for request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]


class Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        assert (self.path, self.headers["Content-Type"]) == ("/v1/traces", "application/x-protobuf")
        self.server.requests.append(ExportTraceServiceRequest.FromString(content))
        response = ExportTraceServiceResponse()
        response.partial_success.rejected_spans = self.server.rejected
        answer = response.SerializeToString()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def way(number: int) -> FrameWay:
    begin = number * 100 * MS
    pieces = (Piece("forward", begin + 2 * MS, begin + 5 * MS), Piece("publish", begin + 5 * MS, begin + 6 * MS))
    return FrameWay(("door", number), 7, Piece("capture", begin, begin + 2 * MS), pieces, ())


def test_a_frame_is_a_trace_and_its_stages_are_spans_within_it(collector: Collector) -> None:
    assert send_frames(collector_url(collector.url), "board", [way(1), way(2)]) == 8

    frame, *stages = collector.spans[:4]
    attributes = {each.key: each.value for each in frame.attributes}
    assert (attributes["edged.camera"].string_value, attributes["edged.frame"].int_value) == ("door", 1)
    assert frame.name == "frame"
    assert [stage.name for stage in stages] == ["capture", "forward", "publish"]
    assert {stage.parent_span_id for stage in stages} == {frame.span_id}
    assert {stage.trace_id for stage in stages} == {frame.trace_id} != {collector.spans[4].trace_id}
    assert frame.end_time_unix_nano - frame.start_time_unix_nano == 6 * MS
    assert stages[1].end_time_unix_nano - stages[1].start_time_unix_nano == 3 * MS
    (resource,) = collector.requests[0].resource_spans
    named = {each.key: each.value.string_value for each in resource.resource.attributes}
    assert named == {"service.name": "edged", "service.instance.id": "board"}


def test_many_frames_go_in_several_requests(collector: Collector) -> None:
    send_frames(collector_url(collector.url), "board", [way(number) for number in range(FRAMES + 1)])

    assert len(collector.requests) == 2
    assert len({span.trace_id for span in collector.spans}) == FRAMES + 1


def test_spans_that_the_collector_did_not_take_are_not_counted(collector: Collector) -> None:
    collector.rejected = 3
    assert send_frames(collector_url(collector.url), "board", [way(1)]) == 1


def test_a_collector_that_refuses_is_an_error_with_its_answer(collector: Collector) -> None:
    collector.status = 503
    with pytest.raises(EdgedError, match="the collector refused the spans: 503 Service Unavailable"):
        send_frames(collector_url(collector.url), "board", [way(1)])


def test_a_collector_that_is_not_there_is_an_error() -> None:
    with pytest.raises(EdgedError, match=r"no collector answers \(.*refused\); is it running"):
        send_frames("http://127.0.0.1:9/v1/traces", "board", [way(1)])


@pytest.mark.parametrize("endpoint", ["127.0.0.1:4318", "grpc://here:4317", "http://"])
def test_an_endpoint_must_be_a_url(endpoint: str) -> None:
    with pytest.raises(ConfigError, match="expected http://HOST:PORT"):
        collector_url(endpoint)


def test_an_endpoint_may_name_its_own_path() -> None:
    assert collector_url("https://traces.example/otlp/x") == "https://traces.example/otlp/x"
    assert collector_url("http://here:4318/") == "http://here:4318/v1/traces"
