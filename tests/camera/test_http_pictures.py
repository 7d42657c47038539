"""Cameras over HTTP as they are: parts without types, wrong lengths and boundaries, still pictures, logins."""

import hashlib
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import parse_http_list, parse_keqv_list

import cv2
import pytest

from edged.camera.sources import http_pictures
from edged.camera.sources.http_pictures import HttpCamera
from edged.camera.sources.jpeg_parts import JpegSplitter
from edged.clock import now_ns, seconds_since
from edged.errors import CameraError, ImageError
from tests.camera.pictures import plain
from tests.eventually import LIMIT_S

LEVELS = (40, 80, 120, 160, 200)
MULTIPART = "multipart/x-mixed-replace; boundary=f"
USER, PASSWORD = "me", "gehÄim"


def jpeg(level: int) -> bytes:
    return cv2.imencode(".jpg", plain(level))[1].tobytes()


def part(content: bytes, headers: str = "Content-Type: image/jpeg\r\n", mark: str = "--f") -> bytes:
    return f"{mark}\r\n{headers}\r\n".encode() + content + b"\r\n"


class FakeCamera(BaseHTTPRequestHandler):
    """Answers as `answer` says, which writes it."""

    protocol_version = "HTTP/1.1"
    answer: Callable[["FakeCamera"], None]
    connections: list[object]
    done: threading.Event

    def do_GET(self) -> None:
        """Answer one request."""
        if self.connection not in self.connections:
            self.connections.append(self.connection)
        type(self).answer(self)

    def send(self, content: bytes, kind: str, *, length: bool = True) -> None:
        """Send a whole answer."""
        self.send_response(200)
        self.send_header("Content-Type", kind)
        if length:
            self.send_header("Content-Length", str(len(content)))
        else:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextmanager
def camera(answer: Callable[[FakeCamera], None]) -> Iterator[tuple[str, type[FakeCamera]]]:
    """While this lasts, a camera answers at the URL."""
    done = threading.Event()
    kind = type("OneCamera", (FakeCamera,), {"answer": answer, "connections": [], "done": done})
    with ThreadingHTTPServer(("127.0.0.1", 0), kind) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/video", kind
        finally:
            done.set()
            server.shutdown()


def levels_of(source: HttpCamera, count: int = len(LEVELS)) -> list[int]:
    """The grey levels of the next pictures, rounded; 0 for one that cannot be read."""
    source.open()
    try:
        return [level_of(source) for _ in range(count)]
    finally:
        source.close()


def level_of(source: HttpCamera) -> int:
    try:
        return round(float(source.read().pixels.mean()) / 10) * 10
    except ImageError:
        return 0


def parts_of(how: Callable[[int], bytes]) -> bytes:
    return b"".join(how(level) for level in LEVELS) + b"--f--\r\n"


def length(level: int, more: int = 0) -> str:
    return f"Content-Length: {len(jpeg(level)) + more}\r\n"


def without_tables(content: bytes) -> bytes:
    """Leave out the Huffman tables, as cameras of USB do."""
    while (place := content.find(b"\xff\xc4")) > 0:
        content = content[:place] + content[place + 2 + int.from_bytes(content[place + 2 : place + 4]) :]
    return content


SENT = {
    "parts without a type": (MULTIPART, parts_of(lambda level: part(jpeg(level), length(level)))),
    "lengths too large": (MULTIPART, parts_of(lambda level: part(jpeg(level), length(level, 7)))),
    "lengths too small": (MULTIPART, parts_of(lambda level: part(jpeg(level), length(level, -7)))),
    "no lengths": (MULTIPART, parts_of(lambda level: part(jpeg(level)))),
    "no headers": (MULTIPART, parts_of(lambda level: part(jpeg(level), ""))),
    "boundary with its dashes": (MULTIPART.replace("=f", "=--f"), parts_of(lambda level: part(jpeg(level)))),
    "another boundary": (MULTIPART.replace("=f", "=other"), parts_of(lambda level: part(jpeg(level)))),
    "boundary without dashes": (MULTIPART, parts_of(lambda level: part(jpeg(level), mark="f"))),
    "boundary in quotation marks": (MULTIPART.replace("=f", '="f"'), parts_of(lambda level: part(jpeg(level)))),
    "line feeds alone": (MULTIPART, parts_of(lambda level: b"--f\nA: b\n\n" + jpeg(level) + b"\n")),
    "multipart/mixed": ("multipart/mixed; boundary=f", parts_of(lambda level: part(jpeg(level)))),
    "no type of use": ("application/octet-stream", parts_of(lambda level: part(jpeg(level)))),
    "padding": (MULTIPART, parts_of(lambda level: part(jpeg(level) + bytes(100)))),
    "no Huffman tables": (MULTIPART, parts_of(lambda level: part(without_tables(jpeg(level))))),
    "pictures alone": ("application/octet-stream", b"".join(map(jpeg, LEVELS))),
}


@pytest.mark.parametrize("how", SENT)
def test_motion_jpeg_is_read_however_its_parts_are_written(how: str) -> None:
    kind, content = SENT[how]
    with camera(lambda self: self.send(content, kind, length=False)) as (url, _):
        assert levels_of(HttpCamera(url)) == list(LEVELS)


@pytest.mark.parametrize("header", ["", "length"])
def test_pictures_without_their_end_marker_are_read_from_the_second_on(header: str) -> None:
    def endless(level: int) -> bytes:
        content = jpeg(level)[:-2]
        return part(content, f"Content-Length: {len(content)}\r\n" if header else "")

    with camera(lambda self: self.send(parts_of(endless), MULTIPART, length=False)) as (url, _):
        assert levels_of(HttpCamera(url)) == [0, *LEVELS[1:]]


def test_a_picture_that_is_cut_within_its_header_spoils_no_other_one() -> None:
    contents = [jpeg(40), jpeg(80)[:100], jpeg(120)]
    sent = b"".join(part(content) for content in contents) + b"--f--\r\n"
    with camera(lambda self: self.send(sent, MULTIPART, length=False)) as (url, _):
        assert levels_of(HttpCamera(url), 3) == [40, 0, 120]


def test_a_picture_is_delivered_before_the_next_one_is_sent() -> None:
    def send_one(self: FakeCamera) -> None:
        self.send(part(jpeg(120), length(120)), MULTIPART, length=False)
        self.done.wait(LIMIT_S)

    with camera(send_one) as (url, _):
        assert levels_of(HttpCamera(url, timeout_s=LIMIT_S), 1) == [120]


def test_a_picture_without_its_end_marker_is_delivered_where_the_lengths_have_been_right() -> None:
    splitter = JpegSplitter()
    for level in LEVELS[:2]:
        splitter.add(part(jpeg(level)[:-2], length(level, -2)))
    whole = [splitter.next_picture()]
    splitter.add(b"--f\r\n")

    whole.append(splitter.next_picture())

    splitter.add(length(120, -2).encode() + b"\r\n" + jpeg(120)[:-2])
    whole.append(splitter.next_picture())
    assert whole == [jpeg(40)[:-2], jpeg(80), jpeg(120)]


def test_bytes_may_come_one_by_one() -> None:
    splitter = JpegSplitter()
    found = []

    for byte in SENT["lengths too small"][1]:
        splitter.add(bytes([byte]))
        if content := splitter.next_picture():
            found.append(content)

    assert found == [jpeg(level) for level in LEVELS]


def test_a_camera_that_stops_sending_is_reported() -> None:
    def stall(self: FakeCamera) -> None:
        self.send(part(jpeg(120)) + b"--f\r\n\r\n" + jpeg(120)[:50], MULTIPART, length=False)
        self.done.wait(LIMIT_S)

    with camera(stall) as (url, _), pytest.raises(CameraError, match=r"/… has stalled: no picture for 0\.3 s"):
        levels_of(HttpCamera(url, timeout_s=0.3), 2)


def test_a_camera_that_sends_slowly_is_given_the_time_that_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_pictures, "READ_TIMEOUT_S", 0.1)
    monkeypatch.setattr(http_pictures, "SLOWEST_WAIT_S", 1.0)

    def send_slowly(self: FakeCamera) -> None:
        for number, level in enumerate(LEVELS[:3]):
            self.done.wait(0.3 if number else 0)
            self.wfile.write(part(jpeg(level))) if number else self.send(
                part(jpeg(level)), MULTIPART, length=False
            )
        self.done.wait(LIMIT_S)

    with camera(send_slowly) as (url, _):
        slow = HttpCamera(url)
        slow.open()
        assert [round(slow.read().pixels.mean() / 40) for _ in range(3)] == [1, 2, 3]
        with pytest.raises(CameraError, match=r"has stalled: no picture for (0\.9|1)"):
            slow.read()
        slow.close()


def one_after_the_other(kind: str, *, length: bool = True) -> Callable[[FakeCamera], None]:
    """A camera that gives the next picture for each request."""
    left = iter(LEVELS)
    return lambda self: self.send(jpeg(next(left)), kind, length=length)


@pytest.mark.parametrize("length", [True, False])
def test_a_url_of_one_still_picture_is_requested_again_and_again(length: bool) -> None:
    slept: list[int] = []
    with camera(one_after_the_other("image/jpeg", length=length)) as (url, kind):
        assert levels_of(HttpCamera(url, poll_s=50, sleep=slept.append)) == list(LEVELS)

    assert len(slept) == len(LEVELS) - 1
    assert all(40e9 < each <= 50e9 for each in slept)
    assert len(kind.connections) == (1 if length else len(LEVELS))


def test_a_still_picture_whose_type_lies_is_known_by_its_first_bytes() -> None:
    with camera(one_after_the_other("application/octet-stream")) as (url, _):
        assert levels_of(HttpCamera(url, poll_s=0.001)) == list(LEVELS)


def test_a_web_page_is_reported_at_once() -> None:
    start_ns = now_ns()
    with (
        camera(lambda self: self.send(b"<html>", "text/html; charset=utf-8")) as (url, _),
        pytest.raises(CameraError, match=r"/… gives no video: it answers with a web page: is its path right\?"),
    ):
        HttpCamera(url).open()
    assert seconds_since(start_ns) < 2


def digest_camera(algorithm: str) -> Callable[[FakeCamera], None]:
    """A camera that gives a picture after a login by Digest, as RFC 7616 has it."""
    name = {"MD5": "md5", "SHA-256": "sha256"}[algorithm]

    def hashed(*parts: str) -> str:
        return hashlib.new(name, ":".join(parts).encode()).hexdigest()

    def answer(self: FakeCamera) -> None:
        given = self.headers.get("Authorization", "")
        values = parse_keqv_list(parse_http_list(given.partition(" ")[2])) if given.startswith("Digest") else {}
        if values:
            secret = hashed(USER, "cam", PASSWORD)
            middle = [values[key] for key in ("nonce", "nc", "cnonce", "qop")]
            if values["response"] == hashed(secret, *middle, hashed("GET", self.path)):
                return self.send(jpeg(120), "image/jpeg")
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="cam"')
        self.send_header(
            "WWW-Authenticate", f'Digest realm="cam", nonce="n", qop="auth, auth-int", algorithm={algorithm}'
        )
        self.send_header("Content-Length", "0")
        self.end_headers()
        return None

    return answer


@pytest.mark.parametrize("algorithm", ["MD5", "SHA-256"])
def test_a_login_by_digest_opens_a_camera_and_is_in_no_message(algorithm: str) -> None:
    with camera(digest_camera(algorithm)) as (place, _):
        url = f"{place}?size=1"
        assert levels_of(HttpCamera(url, USER, lambda: PASSWORD, poll_s=0.001), 3) == [120] * 3

        with pytest.raises(CameraError, match=r"its path, user or password is wrong \(401\)") as error:
            HttpCamera(url, USER, lambda: "wrongly").open()
    assert not re.search("wrongly|size", str(error.value))
