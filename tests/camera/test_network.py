"""Cameras that speak TLS: the right one is read, any other gets neither user nor password."""

import select
import socket
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from edged import config
from edged.camera.sources import open_source
from edged.camera.sources.http_pictures import HttpCamera
from edged.camera.sources.network import without_secrets
from edged.camera.sources.stream import LiveStream
from edged.config import CameraTls
from edged.config.load import load_config
from edged.doctor.check_pipeline import camera_finding
from edged.errors import CameraError, ConfigError
from tests.camera.hub_end import down_report, running_camera
from tests.camera.motion_jpeg import MotionJpeg, serving
from tests.camera.rtsp import RtspServer, skip_without_gstreamer
from tests.camera.tls_front import TlsFront, server_context
from tests.e2e.certificates import new_authority, new_certificate
from tests.eventually import eventually, free_port

pytestmark = pytest.mark.deep

PASSWORD = "s3/c@t:"  # noqa: S105 - of no other camera
KEY = "sesame"  # no part of a fingerprint: those are hexadecimal


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two authorities; certificates of one for this host, for another one, and of former times."""
    folder = tmp_path_factory.mktemp("tls")
    for authority in ("ours", "theirs"):
        new_authority(folder, authority)
    new_certificate(folder, "camera", "ours")
    new_certificate(folder, "elsewhere", "ours", names="DNS:camera.example")
    new_certificate(folder, "expired", "ours", days=-1)
    new_certificate(folder, "mallory", "theirs")
    return folder


class AskingCamera(MotionJpeg):
    """Wants a password, and remembers what it was sent."""

    sent: list[str | None]
    hosts: list[str | None]
    place: str | None

    def do_GET(self) -> None:  # noqa: N802 - its name there
        """Pictures, or where they are, or a question."""
        self.sent.append(self.headers["Authorization"])
        self.hosts.append(self.headers["Host"])
        if self.place:
            self.send_response(302)
            self.send_header("Location", self.place)
            self.end_headers()
        elif self.headers["Authorization"] != f"Basic {b64encode(f'me:{PASSWORD}'.encode()).decode()}":
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="camera"')
            self.end_headers()
        else:
            super().do_GET()


@contextmanager
def https_camera(folder: Path, certificate: str, place: str | None = None) -> Iterator[tuple[str, Any]]:
    """The URL of a camera that shows this certificate, and its class; `place`: it is there in truth."""
    kind = type("Camera", (AskingCamera,), {"sent": [], "hosts": [], "place": place})
    with ThreadingHTTPServer(("127.0.0.1", 0), kind) as server:
        context = server_context(folder, certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        server.handle_error = lambda *_: None  # type: ignore[method-assign]  # of peers that leave in the handshake
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"https://127.0.0.1:{server.server_port}/video?key={KEY}", kind
        server.shutdown()


def stream(url: str, **tls: Any) -> LiveStream | HttpCamera:
    kind = HttpCamera if url.startswith("https") else LiveStream
    return kind(url, "me", lambda: PASSWORD, CameraTls(**tls) if tls else None)


def fingerprint_in(error: str) -> str:
    """The line to write that an error has."""
    return error.partition('fingerprint: "')[2].partition('"')[0]


def refusal(camera: LiveStream | HttpCamera) -> str:
    with pytest.raises(CameraError) as error:
        camera.open()
    camera.close()
    assert PASSWORD not in str(error.value)
    assert KEY not in str(error.value)
    return str(error.value)


def test_pictures_come_from_a_camera_with_a_certificate_of_a_trusted_authority(folder: Path) -> None:
    with https_camera(folder, "camera") as (url, camera):
        source = stream(url, ca=folder / "ours.crt")
        source.open()
        levels = [source.read().pixels.mean() for _ in range(5)]
        source.close()
    assert levels == pytest.approx([120] * 5, abs=2)
    assert set(camera.hosts) == {url.split("/")[2]}


@pytest.mark.parametrize(
    ("certificate", "authority", "why"),
    [
        ("camera", None, "unable to get local issuer certificate"),
        ("camera", "theirs", "unable to get local issuer certificate"),
        ("mallory", "ours", "unable to get local issuer certificate"),
        ("elsewhere", "ours", "IP address mismatch, certificate is not valid for '127.0.0.1'"),
        ("expired", "ours", "certificate has expired"),
        ("ours", None, "self-signed certificate"),
    ],
)
def test_any_other_certificate_is_refused_before_a_password_is_sent(
    folder: Path, certificate: str, authority: str | None, why: str
) -> None:
    with https_camera(folder, certificate) as (url, camera):
        ca = {"ca": folder / f"{authority}.crt"} if authority else {}
        error = refusal(stream(url, **ca))
        assert camera.sent == []
        assert f"gives no video: its certificate is not trusted: {why}; if it is that camera's own" in error

        source = stream(url, fingerprint=fingerprint_in(error))
        source.open()
        source.read()
        source.close()
        assert camera.sent[-1] is not None


def test_a_certificate_that_is_not_the_pinned_one_is_refused(folder: Path) -> None:
    with https_camera(folder, "mallory") as (url, _):
        pin = fingerprint_in(refusal(stream(url)))
    with https_camera(folder, "camera") as (url, camera):
        for ca in ({}, {"ca": folder / "ours.crt"}):
            assert f"not {pin} (tls.fingerprint)" in refusal(stream(url, fingerprint=pin, **ca))
        assert camera.sent == []


def test_insecure_verifies_nothing(folder: Path) -> None:
    with https_camera(folder, "mallory") as (url, _):
        source = stream(url, insecure=True)
        source.open()
        assert source.read().pixels.mean() == pytest.approx(120, abs=2)
        source.close()


def test_a_redirection_is_not_followed(folder: Path) -> None:
    with https_camera(folder, "mallory") as (elsewhere, other):
        with https_camera(folder, "camera", place=elsewhere) as (url, camera):
            error = refusal(stream(url, ca=folder / "ours.crt"))
        assert set(camera.sent) == {None}
        assert other.sent == []
    assert f"it redirects to {without_secrets(elsewhere)}, which edged does not follow" in error


def test_a_host_without_tls_and_an_unreadable_authority_are_reported(folder: Path) -> None:
    with serving(MotionJpeg) as plain:
        url = plain.replace("http", "https")
        assert "it does not speak TLS as expected" in refusal(stream(url))
        assert f"{folder}/none.crt: cannot read the certificates of tls.ca" in refusal(
            stream(url, ca=folder / "none.crt")
        )
        assert "expected an authority's certificates in PEM" in refusal(stream(url, ca=folder / "camera.key"))


class ConnectProxy(BaseHTTPRequestHandler):
    """An HTTP proxy that does nothing but CONNECT."""

    asked: list[str]

    def do_CONNECT(self) -> None:
        """Pass bytes on, both ways."""
        self.asked.append(self.path)
        host, port = self.path.split(":")
        with socket.create_connection((host, int(port))) as server:
            self.send_response(200)
            self.end_headers()
            ends = {self.connection: server, server: self.connection}
            while ready := select.select(list(ends), [], [])[0]:
                for end in ready:
                    if not (data := end.recv(65536)):
                        return
                    ends[end].sendall(data)

    def log_message(self, *_: object) -> None:
        """Nothing."""


def test_an_http_proxy_of_the_environment_leads_to_the_camera_and_is_not_asked_for_this_host(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = type("Proxy", (ConnectProxy,), {"asked": []})
    with https_camera(folder, "camera") as (url, _), ThreadingHTTPServer(("127.0.0.1", 0), kind) as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.server_port}")
        monkeypatch.setenv("no_proxy", "")
        source = stream(url, ca=folder / "ours.crt")
        source.open()
        source.read()
        source.close()
        proxy.shutdown()
    assert set(kind.asked) == {url.split("/")[2]}  # type: ignore[attr-defined]


def test_a_redirection_of_rtsp_is_not_followed(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as elsewhere, socket.create_server(("127.0.0.1", 0)) as camera:
        place = f"rtsp://127.0.0.1:{elsewhere.getsockname()[1]}/live"
        answers = [b"RTSP/1.0 200 OK\r\nCSeq: 1\r\nPublic: DESCRIBE\r\n\r\nRTSP/1.", b"0 302 Found\r\nCSeq: 2\r\n"]
        answers[1] += f"Location: {place}\r\n\r\n".encode()

        def answer() -> None:
            viewer, _ = camera.accept()
            with viewer:
                for each in answers:
                    viewer.recv(65536)
                    viewer.sendall(each)
                viewer.recv(65536)

        threading.Thread(target=answer, daemon=True).start()
        behind = camera.getsockname()[1]
        with TlsFront(free_port(), behind, server_context(folder, "camera")).running() as front:
            error = refusal(stream(f"rtsps://127.0.0.1:{front.port}/live", ca=folder / "ours.crt"))
        assert f"it redirects to {without_secrets(place)}, which edged does not follow" in error
        elsewhere.setblocking(False)
        with pytest.raises(BlockingIOError):
            elsewhere.accept()


@pytest.fixture(params=["basic", "digest"])
def rtsp(request: pytest.FixtureRequest) -> Iterator[RtspServer]:
    skip_without_gstreamer()
    server = RtspServer(f"me:{PASSWORD}", key_every=25, how=request.param)
    server.start()
    yield server
    server.kill()


def test_rtsp_over_tls_is_read_with_a_password(rtsp: RtspServer, folder: Path) -> None:
    with TlsFront(free_port(), rtsp.port, server_context(folder, "camera")).running() as front:
        source = stream(f"rtsps://127.0.0.1:{front.port}/live", ca=folder / "ours.crt")
        source.open()
        assert source.read().pixels.shape == (240, 320, 3)
        source.close()
        assert b"Authorization: " in front.received


def test_an_rtsp_camera_with_another_certificate_gets_no_password(rtsp: RtspServer, folder: Path) -> None:
    with TlsFront(free_port(), rtsp.port, server_context(folder, "mallory")).running() as front:
        url = f"rtsps://127.0.0.1:{front.port}/live"
        error = refusal(stream(url, ca=folder / "ours.crt"))
        assert error.startswith(f"{without_secrets(url)} gives no video: its certificate is not trusted")
        assert front.received == b""


@pytest.mark.parametrize("rtsp", ["digest"], indirect=True)
def test_a_camera_that_shows_another_certificate_is_down_until_the_right_one_is_back(
    rtsp: RtspServer, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "password").write_text(PASSWORD)
    port = free_port()
    text = (
        f"{{source: 'rtsps://127.0.0.1:{port}/live', user: me, password_file: {tmp_path}/password, "
        f"tls: {{ca: {folder}/ours.crt}}}}"
    )
    with running_camera(tmp_path, "door", text) as camera:
        with TlsFront(port, rtsp.port, server_context(folder, "camera")).running():
            eventually(lambda: camera.hub.has_frames(10))
        with TlsFront(port, rtsp.port, server_context(folder, "mallory")).running() as front:
            eventually(lambda: (report := down_report(camera)) and "not trusted" in str(report.error))
            assert front.received == b""
        before = len(camera.hub.frames)
        with TlsFront(port, rtsp.port, server_context(folder, "camera")).running():
            eventually(lambda: camera.hub.has_frames(before + 10))
            camera.stop()


def test_check_verifies_the_certificate_and_says_what_to_write(folder: Path) -> None:
    with https_camera(folder, "camera") as (url, camera):
        source = config.CameraConfig(source=url, user="me", tls=CameraTls(ca=folder / "ours.crt"))
        found = camera_finding("door", source, is_offline=True)
        assert (found.level, found.text) == (
            "ok",
            f"{without_secrets(url)}, whose certificate is trusted; no video was read",
        )
        found = camera_finding("door", config.CameraConfig(source=url, user="me"))
        assert found.level == "warning"
        assert 'tls: {fingerprint: "sha256:' in found.text
        assert camera.sent == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{source: 'rtsp://cam/live', tls: {insecure: true}}", "is for a source of https:// or rtsps:// alone"),
        ("{source: 'https://cam/', tls: {insecure: true, ca: a.crt}}", "leave out ca and fingerprint, or this"),
        ("{source: 'https://cam/', tls: {fingerprint: 'ab:cd'}}", "expected sha256: and 64 hexadecimal digits"),
    ],
)
def test_a_mistake_in_the_section_is_reported(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "edged.yaml"
    file.write_text(f"cameras:\n  door: {text}\n")
    with pytest.raises(ConfigError, match=words):
        load_config(file)


def test_a_fingerprint_may_have_colons_and_a_file_is_relative_to_the_config(tmp_path: Path) -> None:
    file = tmp_path / "edged.yaml"
    pin = "SHA256:" + ":".join(["AB"] * 32)
    file.write_text(f"cameras:\n  door: {{source: 'https://cam/', tls: {{ca: a.crt, fingerprint: '{pin}'}}}}\n")
    tls = load_config(file).cameras["door"].tls
    assert tls == CameraTls(ca=tmp_path / "a.crt", fingerprint=f"sha256:{'ab' * 32}")
    assert isinstance(open_source(load_config(file).cameras["door"]), HttpCamera)
