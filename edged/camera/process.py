"""The camera process: read, drop or prepare, send; report; reconnect after a failure."""

import logging
from uuid import uuid4

import cv2

from edged import config
from edged.camera.gate import Freeze, Gate, Stillness
from edged.camera.hub_session import HubRequests
from edged.camera.sources import is_live, is_paced_by_grants, open_source
from edged.camera.sources.source import Captured, capture, sleep_ns
from edged.camera.state import State
from edged.clock import NANOSECONDS, nanoseconds, now_ns, seconds_since
from edged.errors import CameraError, ImageError
from edged.messages import USUAL_WAIT_S, CameraHello, CameraReport, Capture, Frame
from edged.pictures import prepare
from edged.pictures.prepare import Pixels
from edged.system.backoff import Backoff
from edged.transport.client_socket import Curve

log = logging.getLogger(__name__)

REPORT_EVERY_S = 1.0
LONGEST_PAUSE_S = 0.8  # a camera that is back must deliver a frame within 3 s, even if one attempt just missed it


def run_camera(name: str, camera: config.CameraConfig, hub: str, curve: Curve | None = None) -> None:
    """Serve the hub at the address `hub` until the source ends or the hub stops us. Raises CameraError."""
    cv2.setNumThreads(1)  # the other cores are for the forward pass
    process = CameraProcess(name, camera, hub, curve)
    try:
        process.run()
    finally:
        process.close()


class CameraProcess:
    """Runs one camera, from its hello to its last report."""

    def __init__(self, name: str, camera: config.CameraConfig, hub: str, curve: Curve | None = None) -> None:
        self._name = name
        self._camera = camera
        self._source = open_source(camera, self._sleep)
        self._run = uuid4().hex
        self._waits = is_paced_by_grants(camera)  # for a grant before each picture
        self._gate = Gate(camera.max_fps, camera.motion)
        self._freeze = Freeze(camera.frozen_s if is_live(camera) else 0)
        self._stillness = Stillness(camera.still_s if is_live(camera) else 0)
        self._state = State(name)
        self._orders = HubRequests(name, hub, self._hello, curve)
        self._link = self._orders.link
        self._backoff = Backoff(longest_s=LONGEST_PAUSE_S)
        self._reported_ns = self._tried_ns = now_ns()  # tried: at the last opening, or the last picture
        self._reported_wait_s = USUAL_WAIT_S
        self._unreadable: set[str] = set()

    def run(self) -> None:
        """Run until the source ends or the hub stops this camera. Raises CameraError if the hub refuses it."""
        while not (self._orders.wanted or self._orders.stop):
            self._orders.receive(REPORT_EVERY_S)
            self._report_if_due()
        while not self._orders.stop and not self._serve():
            self._orders.receive()
            self._report_if_due()
            self._pause(self._backoff.failed() - seconds_since(self._tried_ns))
        if self._orders.stop and self._orders.stop.refused:
            raise CameraError(f"the hub refuses camera {self._name}: {self._orders.stop.refused}")
        self._link.send_news(self._state.last_report())

    def close(self) -> None:
        """Wait shortly for the last messages to be sent."""
        self._link.close()

    def _hello(self) -> CameraHello:
        return CameraHello(
            camera=self._name,
            run=self._run,
            awaits_grants=self._waits,
            can_be_held=self._orders.clock.same_host and not self._waits,
            count=self._state.count(),
        )

    def _serve(self) -> bool:
        """Serve until the source or the process ends (True), or the source fails (False)."""
        self._tried_ns = now_ns()
        self._report_if_due()
        try:
            self._source.open()
            self._stillness.begin_again()
            while not self._orders.stop and self._step():
                pass
        except CameraError as error:
            if self._state.source_failed(str(error)):
                self._report_changes()
            return False
        finally:
            self._source.close()
        return True

    def _step(self) -> bool:
        """Receive requests, and capture a picture if allowed; False at the end of the source."""
        self._orders.receive()
        self._report_if_due()
        if self._orders.stop:
            return True
        if self._orders.wanted is None or not self._orders.clock.is_known:
            self._orders.receive(REPORT_EVERY_S / 2)
            return True
        if not self._waits or (self._orders.granted and self._link.has_room(REPORT_EVERY_S / 2)):
            return self._capture(self._orders.wanted)
        self._orders.receive(REPORT_EVERY_S / 2)
        return True

    def _capture(self, wanted: Capture) -> bool:
        try:
            captured = capture(self._source)
            pixels = captured.picture.pixels if captured and not self._is_held(captured) else None
        except ImageError as error:
            self._skip_picture(str(error))
            return True
        if captured is None:
            return False
        self._tried_ns = captured.read_ns
        if self._state.source_opened():
            self._backoff.succeeded()
            self._report_changes()
        if pixels is None:
            number, refusal = self._state.captured(), "superseded"
        else:
            number, refusal = self._offer(captured, pixels, wanted)
        if refusal:
            self._state.dropped(refusal)
        self._orders.diary.picture(number, captured, refusal)
        return True

    def _is_held(self, captured: Captured) -> bool:
        """Return whether no worker would take the frame, and no snapshot is due."""
        at_ns = captured.read_ns
        return at_ns < self._orders.held_until_ns and not self._orders.snapshots.is_due(at_ns)

    def _offer(self, captured: Captured, pixels: Pixels, wanted: Capture) -> tuple[int, str]:
        """Return the number of a picture, and why it is not sent; empty if it is."""
        region = prepare.region(pixels, self._camera.roi)
        self._look_whether_frozen(pixels, region, captured.at_ns)
        number, size = self._state.captured(), (pixels.shape[1], pixels.shape[0])
        refusal = self._gate.refusal(region, captured.at_ns)
        return number, refusal or self._send(number, captured, region, size, wanted) or ""

    def _look_whether_frozen(self, pixels: Pixels, region: Pixels, at_ns: int) -> None:
        frozen = self._freeze.frozen(pixels, at_ns)
        if self._state.set_frozen(frozen, self._stillness.still(region, at_ns)):
            self._report_changes()

    def _send(
        self, number: int, captured: Captured, region: Pixels, size: tuple[int, int], wanted: Capture
    ) -> str | None:
        """Return why the frame could not be sent, or None. `size`: width and height of the whole picture."""
        resize = self._camera.fit or wanted.resize
        pixels = prepare.fitted(region, wanted.width, wanted.height, resize)
        shown, place = prepare.shown(size, self._camera.roi, (wanted.width, wanted.height), resize)
        captured_ns, captured_at, error_ns = self._orders.clock.to_hub_time(captured.at_ns, captured.at_s)
        frame = Frame(
            camera=self._name,
            frame=number,
            captured_at=captured_at,
            captured_ns=captured_ns,
            clock_error_s=error_ns / NANOSECONDS,
            capture_s=captured.read_s,
            preprocess_s=seconds_since(captured.read_ns),
            width=wanted.width,
            height=wanted.height,
            region=shown,
            place=place,
            truth=captured.picture.truth,
            count=self._state.count(),
        )
        self._orders.diary.prepared(captured.read_ns + nanoseconds(frame.preprocess_s))
        if not self._link.send(frame, pixels):
            return "link_full"
        self._gate.frame_sent(region, captured.at_ns)
        self._orders.granted -= 1
        self._send_snapshot(region, frame)
        return None

    def _send_snapshot(self, region: Pixels, frame: Frame) -> None:
        """Send a snapshot after its frame, only if the link has room."""
        now = now_ns()
        if self._orders.snapshots.is_due(now) and self._link.has_room():
            taken = self._orders.snapshots.encode(region, frame, now)
            if taken:
                self._link.send(taken.header, taken.jpeg)

    def _skip_picture(self, error: str) -> None:
        self._state.captured()
        self._state.dropped("unreadable")
        if error not in self._unreadable:  # a folder that loops reads the same file again
            self._unreadable.add(error)
            log.warning("camera %s: %s; it is left out", self._name, error)

    def _pause(self, seconds: float) -> None:
        end_ns = now_ns() + nanoseconds(seconds)
        while not self._orders.stop and (left_ns := end_ns - now_ns()) > 0:
            self._orders.receive(min(REPORT_EVERY_S, left_ns / NANOSECONDS))
            self._report_if_due()

    def _sleep(self, nanoseconds: int) -> None:
        """Wait between two pictures, but keep reporting: the hub takes silence for a process that hangs."""
        end_ns = now_ns() + nanoseconds
        self._pause(nanoseconds / NANOSECONDS - REPORT_EVERY_S)
        sleep_ns(max(0, end_ns - now_ns()))

    def _report_if_due(self) -> None:
        """Report each second, and before a longer wait than the hub knows of."""
        if (
            seconds_since(self._reported_ns) >= REPORT_EVERY_S
            or self._source.longest_wait_s > self._reported_wait_s
        ):
            self._link.send(self._report())
        else:
            self._orders.diary.send_if_due()

    def _report_changes(self) -> None:
        self._link.send_news(self._report())

    def _report(self) -> CameraReport:
        self._reported_ns, self._reported_wait_s = now_ns(), self._source.longest_wait_s
        return self._state.report(self._reported_wait_s)
