"""Send the ways of frames to an OpenTelemetry collector: each frame is a trace, its stages are spans.

OTLP over HTTP in protobuf: https://opentelemetry.io/docs/specs/otlp/#otlphttp. The only module that imports
opentelemetry-proto, an optional dependency.
"""

import secrets
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

from edged.errors import ConfigError, EdgedError
from edged.system.python_packages import install_command
from edged.tracing.frames import FrameWay, Piece

PATH = "/v1/traces"  # of a collector, unless the endpoint names another one
FRAMES = 200  # in a request
LIMIT_S = 10.0
TRACE_ID_BYTES, SPAN_ID_BYTES = 16, 8


def collector_url(endpoint: str) -> str:
    """Return the URL for traces of a collector. Raises ConfigError for another kind of address."""
    parts = urlsplit(endpoint)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ConfigError(f"--otlp {endpoint}: expected http://HOST:PORT, as in http://127.0.0.1:4318")
    return endpoint if parts.path not in {"", "/"} else f"{endpoint.rstrip('/')}{PATH}"


def check_installed() -> None:
    """Raises ConfigError if the package is missing."""
    try:
        import opentelemetry.proto.collector.trace.v1.trace_service_pb2  # noqa: F401
    except ImportError:
        raise ConfigError(
            f"edged trace --otlp needs opentelemetry-proto: {install_command('opentelemetry-proto')}"
        ) from None


def send_frames(url: str, node: str, ways: Sequence[FrameWay]) -> int:
    """Send all frames, timed by this host, and return how many spans the collector took. Raises EdgedError."""
    batches = [ways[first : first + FRAMES] for first in range(0, len(ways), FRAMES)]
    # spans of a frame: the whole, its capture and its pieces
    return sum(_send(url, _request(node, some), sum(2 + len(way.pieces) for way in some)) for some in batches)


def _request(node: str, ways: Sequence[FrameWay]) -> Any:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    to_wall_ns = time.time_ns() - time.monotonic_ns()
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    _set_attributes(resource.resource.attributes, {"service.name": "edged", "service.instance.id": node})
    scope = resource.scope_spans.add()
    scope.scope.name = "edged.trace"
    for way in ways:
        _add_frame(scope, way, to_wall_ns)
    return request


def _add_frame(scope: Any, way: FrameWay, to_wall_ns: int) -> None:
    """Add a span of the whole frame, and in it one of each stage and of each wait."""
    trace, frame = secrets.token_bytes(TRACE_ID_BYTES), secrets.token_bytes(SPAN_ID_BYTES)
    camera, number = way.frame
    whole = Piece("frame", way.capture.begin_ns, way.pieces[-1].end_ns)
    span = _add_span(scope, trace, frame, whole, to_wall_ns)
    _set_attributes(span.attributes, {"edged.camera": camera, "edged.frame": number, "edged.seq": way.seq})
    for piece in (way.capture, *way.pieces):
        _add_span(scope, trace, secrets.token_bytes(SPAN_ID_BYTES), piece, to_wall_ns, parent=frame)


def _add_span(scope: Any, trace: bytes, own: bytes, piece: Piece, to_wall_ns: int, parent: bytes = b"") -> Any:
    return scope.spans.add(
        trace_id=trace,
        span_id=own,
        parent_span_id=parent,
        name=piece.name,
        kind="SPAN_KIND_INTERNAL",
        start_time_unix_nano=piece.begin_ns + to_wall_ns,
        end_time_unix_nano=piece.end_ns + to_wall_ns,
    )


def _set_attributes(attributes: Any, values: dict[str, str | int]) -> None:
    for name, value in values.items():
        attributes.add(key=name, value={"string_value" if isinstance(value, str) else "int_value": value})


def _send(url: str, request: Any, spans: int) -> int:
    """Post a request; return how many of its spans were accepted. Raises EdgedError."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

    headers = {"Content-Type": "application/x-protobuf", "User-Agent": "edged"}
    post = urllib.request.Request(url, request.SerializeToString(), headers)  # noqa: S310 (checked above)
    try:
        with urllib.request.urlopen(post, timeout=LIMIT_S) as answer:  # noqa: S310
            response = ExportTraceServiceResponse.FromString(answer.read())
    except urllib.error.HTTPError as error:
        raise EdgedError(f"{url}: the collector refused the spans: {error.code} {error.reason}") from None
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise EdgedError(f"{url}: no collector answers ({reason}); is it running, with OTLP over HTTP?") from None
    return spans - int(response.partial_success.rejected_spans)
