"""Faults of cameras that deliver in other ways than those before: programs, slow ones, stamps of another rate."""

import json
import signal
import time
from collections.abc import Callable
from contextlib import suppress

import psutil
from prometheus_client.parser import text_string_to_metric_families

from tests.eventually import eventually
from trials.soak.setting import Setting
from trials.soak.shed import USUAL_S

SLOW_S, SLOW_PICTURES = 3.5, 4  # more than the usual silence of a camera, within its time-out of 5 s
STAMPED_MS, SENT_MS = 40, 50  # stamps of 25 pictures a second, of which it sends 20
COUNTED_S = 12.0  # once the stamps counted as late, and after 5 s the connection was made anew
MOST_STALE = 0.1  # of these pictures


def program_signal(*numbers: int) -> Callable[[Setting], float]:
    """The program of a camera gets one of these signals."""

    def send(setting: Setting) -> float:
        program = eventually(setting.shed.programs)[0]
        with suppress(psutil.NoSuchProcess):  # the daemon has just ended it
            program.send_signal(setting.chance.choice(numbers))
        return time.time()

    return send


def one_program_runs(setting: Setting) -> None:
    """After a program died or hung, another one is there, and only that."""
    with suppress(AssertionError):
        eventually(lambda: len(setting.shed.programs()) == 1)
        return
    setting.complaints.append(f"{len(setting.shed.programs())} programs")


def pictures_come_slowly(setting: Setting) -> float:
    """Some pictures, each within its time-out: every one is predicted, and the program is not started again."""
    program = eventually(setting.shed.programs)[0]
    setting.shed.send_every(SLOW_S)
    time.sleep(SLOW_S)
    start, sent = time.time(), setting.shed.sent()
    eventually(lambda: setting.shed.sent() >= sent + SLOW_PICTURES)
    time.sleep(SLOW_S / 2)  # between two pictures
    sent, seen = setting.shed.sent() - sent, predicted(setting, "shed", start)
    if abs(sent - seen) > 1:  # the first was sent before we looked, or is predicted after
        setting.complaints.append(f"{seen} of {sent} pictures predicted")
    if setting.shed.programs() != [program]:
        setting.complaints.append("the program was started again")
    return time.time()


def pictures_come_as_usual(setting: Setting) -> None:
    setting.shed.send_every(USUAL_S)


def stamps_of_another_rate(setting: Setting) -> float | None:
    """A camera that stamps its pictures by their number, for 25 a second, and sends 20."""
    if not setting.rtsp:
        return None
    start, stale = time.time(), dropped(setting, "yard", "stale")
    setting.rtsp.send_every(SENT_MS, STAMPED_MS)
    time.sleep(COUNTED_S)
    if lost := [each for each in setting.events("camera_down", start) if "yard" in each]:
        setting.complaints.append(f"{lost}")
    more, sent = dropped(setting, "yard", "stale") - stale, COUNTED_S * 1000 / SENT_MS
    if more > MOST_STALE * sent:
        setting.complaints.append(f"{more:.0f} of {sent:.0f} pictures dropped as stale")
    if not predicted(setting, "yard", start):
        setting.complaints.append("none of its pictures predicted")
    return time.time()


def stamps_as_usual(setting: Setting) -> None:
    """As many pictures as the stamps say."""
    if setting.rtsp:
        setting.rtsp.send_every(STAMPED_MS, STAMPED_MS)


def predicted(setting: Setting, camera: str, since: float) -> int:
    """Return how many frames that the camera captured after the wall time `since` were predicted.

    Lives with a wrong clock do not count.
    """
    found = (json.loads(each.json) for each in setting.raw.seen if each.boot not in setting.ended)
    return sum(each["camera"] == camera and each["captured_at"] > since for each in found)


def dropped(setting: Setting, camera: str, reason: str) -> float:
    """Return how many frames of the camera this life of the hub has dropped."""
    families = text_string_to_metric_families(setting.daemon.metrics())
    labels = {"camera": camera, "reason": reason}
    return sum(
        sample.value
        for family in families
        for sample in family.samples
        if sample.name == "edged_frames_dropped_total" and sample.labels == labels
    )


DIES, HANGS = (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV), (signal.SIGSTOP,)
