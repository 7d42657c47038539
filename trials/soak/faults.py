"""The table of faults. Each is made at once and gives the wall time from which on predictions must go on.

None where it cannot be made: not on this machine, or not on the device that serves at the moment. Beside that each
says what else is expected of the daemon, and adds to `setting.complaints` what it finds otherwise.
"""

import json
import os
import resource
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import zmq

from tests.cli.command import edged
from tests.disks import fill
from tests.e2e.daemon import START_S
from tests.e2e.injected_faults import NO_DEVICE, NO_MEMORY, OUT_OF_RESOURCES
from tests.eventually import eventually
from trials.soak.camera_faults import (
    DIES,
    HANGS,
    SLOW_S,
    one_program_runs,
    pictures_come_as_usual,
    pictures_come_slowly,
    program_signal,
    stamps_as_usual,
    stamps_of_another_rate,
)
from trials.soak.setting import Setting

NOTICED_WITHIN_S = 5.0
OUTAGE_S = 5.0
BROKER_HANGS_S = 30.0
TAKEN_WITHIN_S = 2.0
RETRIED_WITHIN_S = 10.0
GARBAGE = PAGE = 4096  # bytes


@dataclass(frozen=True, slots=True)
class Fault:
    """`bound_s`: within it every camera's predictions must go on. `of_hub`: a new life of the hub begins.

    `heal`: what is done afterwards, to something that still hurts. `expected`: of the daemon, beside the above.
    """

    name: str
    make: Callable[[Setting], float | None]
    bound_s: float
    of_hub: bool = False
    heal: Callable[[Setting], None] = lambda _: None
    expected: str = ""


def worker_signal(number: int) -> Callable[[Setting], float]:
    """A worker that is killed, hangs or crashes."""
    return lambda setting: _signal(setting.child("worker"), number)


def worker_crashes(setting: Setting) -> float:
    """Twice: LLVM's own handler, in a worker that compiles, takes the first one and returns."""
    worker = setting.child("worker")
    eventually(lambda: _signal(worker, signal.SIGSEGV) and not worker.is_running())
    return time.time()


def camera_signal(number: int) -> Callable[[Setting], float]:
    """A camera process, any of them, that is killed or hangs."""
    return lambda setting: _signal(
        setting.child("camera", setting.chance.choice(["door", "yard", "shed"])), number
    )


def rtsp_dies(setting: Setting) -> float | None:
    if not setting.rtsp:
        return None
    setting.rtsp.kill()
    time.sleep(setting.chance.uniform(0, OUTAGE_S))
    setting.rtsp.start()
    return time.time()


def rtsp_stalls(setting: Setting) -> float | None:
    if not setting.rtsp:
        return None
    setting.rtsp.stall()
    time.sleep(setting.chance.uniform(0, 2 * OUTAGE_S))
    setting.rtsp.go_on()
    return time.time()


def hub_dies(setting: Setting) -> float:
    start = time.time()
    setting.kill_hub()
    setting.start()
    return start


def hub_dies_and_the_cache_is_damaged(setting: Setting) -> float:
    start = time.time()
    setting.kill_hub()
    for path in sorted((setting.folder / "cache" / "edged").rglob("*")):
        if path.is_file() and path.stat().st_size:
            data = bytearray(path.read_bytes())
            data[setting.chance.randrange(len(data))] ^= 0xFF
            path.write_bytes(data[: setting.chance.choice([len(data), len(data) // 2])])
    setting.start()
    return start


def hub_dies_and_the_journal_is_damaged(setting: Setting) -> float:
    start, chance = time.time(), setting.chance
    setting.kill_hub()
    kept = setting.in_journal()
    setting.kept |= kept
    setting.may_be_lost |= {number for number in kept if number > setting.client.last}
    setting.damaged_at.append(time.time())
    size = setting.journal.stat().st_size
    with setting.journal.open("r+b") as file:
        match chance.choice(["cut", "page", "all"]):
            case "cut":
                file.truncate(chance.randrange(size))
            case "page":
                file.seek(chance.randrange(size // PAGE) * PAGE)
                file.write(chance.randbytes(PAGE))
            case "all":
                file.write(chance.randbytes(size))
    setting.start()
    return start


def disk_of_the_journal_is_full(setting: Setting) -> float | None:
    if not setting.disk:
        return None
    fill(setting.disk)
    return time.time()


def there_is_room(setting: Setting) -> None:
    if setting.disk:
        (setting.disk / "ballast").unlink()
        eventually(lambda: b'"journaled":false' not in setting.raw.seen[-1].json, RETRIED_WITHIN_S)


def job_meets(fault: str) -> Callable[[Setting], float | None]:
    """The next job on an OpenCL device."""
    return lambda setting: _inject(setting.trigger, fault)


def driver_fails(setting: Setting) -> float | None:
    code = setting.chance.choice([OUT_OF_RESOURCES, NO_DEVICE, NO_MEMORY])
    return _inject(setting.driver.fault, f"clEnqueueNDRangeKernel {code}") if setting.driver else None


def worker_sticks_in_the_kernel(setting: Setting) -> float | None:
    """It writes to a disk that is frozen."""
    if not setting.icy:
        return None
    subprocess.run(["fsfreeze", "--freeze", str(setting.icy)], check=True)
    return _inject(setting.trigger, str(setting.icy / "file"))


def disk_is_thawed(setting: Setting) -> None:
    if setting.icy:
        subprocess.run(["fsfreeze", "--unfreeze", str(setting.icy)], check=True)


def _inject(trigger: Path, fault: str) -> float | None:
    """Write a fault into the trigger file; return when a process took it away, which then meets the fault."""
    new = trigger.with_suffix(".new")
    new.write_text(fault)
    new.rename(trigger)
    with suppress(AssertionError):
        eventually(lambda: not trigger.exists(), TAKEN_WITHIN_S)
        return time.time()
    trigger.unlink(missing_ok=True)
    return None


def worker_gets_no_memory(setting: Setting) -> float:
    """Every request for more fails from now on. It may not need any: then it is killed."""
    worker = setting.child("worker")
    with suppress(psutil.NoSuchProcess, ProcessLookupError):
        limit = worker.memory_info().vms
        resource.prlimit(worker.pid, resource.RLIMIT_AS, (limit, limit))
    with suppress(AssertionError):
        eventually(lambda: not worker.is_running(), 2.0)
        return time.time()
    return _signal(worker, signal.SIGKILL)


def garbage_on_every_port(setting: Setting) -> float:
    start, config = time.time(), setting.config
    for address in (
        *(config["publish"][name] for name in ("address", "replay")),
        "//" + config["metrics"]["address"],
    ):
        where = urlsplit(address)
        with socket.create_connection((str(where.hostname), int(where.port or 0)), timeout=5) as peer:
            peer.sendall(setting.chance.randbytes(GARBAGE))
    with zmq.Context() as context, context.socket(zmq.DEALER) as peer_of_replay:
        peer_of_replay.connect(config["publish"]["replay"])
        peer_of_replay.send_multipart([setting.chance.randbytes(GARBAGE) for _ in range(3)])
        peer_of_replay.setsockopt(zmq.LINGER, 100)  # milliseconds
    return start


def good_reload(setting: Setting) -> float:
    publish = {**setting.config["publish"], "top": setting.chance.randint(1, 5)}
    setting.config.update(publish=publish, **setting.subject.reloaded(setting.config, setting.chance))
    return _reload(setting, json.dumps(setting.config), expected=0)


def bad_reload(setting: Setting) -> float:
    text = setting.chance.choice(["cameras: {door: {sauce: 1}}", "{", "", "cameras: {}", "\0"])
    return _reload(setting, text, expected=2)


def crowd(kind: str, count: int) -> Callable[[Setting], float]:
    """Subscribers that cost much: see `crowd.py`."""

    def come(setting: Setting) -> float:
        setting.crowd_comes(kind, count)
        return time.time()

    return come


def crowd_has_all(setting: Setting) -> None:
    if not setting.crowd_is_done():
        setting.complaints.append("some of the crowd wait for an answer")
    setting.crowd_leaves()


def crowd_has_left(setting: Setting) -> None:
    setting.crowd_leaves()
    if not setting.replay_answers():
        setting.complaints.append("nobody is answered any more")


def journal_is_removed(setting: Setting) -> float:
    """All of its files, or one of them."""
    start, files = time.time(), [setting.journal.with_name(setting.journal.name + each) for each in ("", "-wal")]
    setting.keep_what_is_there()
    seen = setting.client.last
    removed = setting.chance.choice([files, files[:1]])
    for file in removed:
        file.unlink()
    try:
        (message,) = eventually(lambda: setting.events("journal_removed", start), NOTICED_WITHIN_S)
    except AssertionError:
        setting.complaints.append(f"no event within {NOTICED_WITHIN_S:g} s")
    else:
        last = int(message.partition(" to ")[2].partition(",")[0])
        setting.may_be_lost |= set(range(seen + 1, last + 1))
    return time.time()


def hub_dies_and_the_clock_is_wrong(setting: Setting) -> float | None:
    """For the next life, as on a board whose battery is empty; the one after that has the right time."""
    if not setting.clock:
        return None
    setting.kill_hub()
    kept = setting.in_journal().keys()
    with setting.wrong_clock(setting.chance.choice([60, -20_000])):
        setting.start()
        setting.each_camera_is_seen()
        setting.kill_hub()
    setting.ended |= {seen.boot for seen in setting.raw.seen}
    if lost := sorted(kept - setting.in_journal().keys()):
        setting.complaints.append(f"{len(lost)} predictions have gone, from {lost[0]} on")
    start = time.time()
    setting.start()
    return start


def hub_dies_and_its_output_is_full(setting: Setting) -> float:
    start = time.time()
    setting.kill_hub()
    with open("/dev/full", "w") as full:
        setting.start(full)
    return start


def hub_dies_and_its_output_is_closed(setting: Setting) -> float:
    """As in `edged run | head -1`, once head has ended."""
    start = time.time()
    setting.kill_hub()
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as closed:
        setting.start(closed)
    return start


def secret_file_goes(setting: Setting) -> float | None:
    """The password of a camera that starts again just then; it is back soon."""
    if not setting.rtsp:
        return None
    start, password = time.time(), setting.password.read_text()
    setting.password.unlink()
    match setting.chance.choice(["missing", "empty", "half", "folder"]):
        case "empty":
            setting.password.touch(0o600)
        case "half":
            setting.password.touch(0o600)
            setting.password.write_text(password[:4])
        case "folder":
            setting.password.mkdir()
    _signal(setting.child("camera", "yard"), signal.SIGKILL)
    with suppress(AssertionError):  # or it ends, which is the complaint that follows
        eventually(lambda: setting.events("camera_down", start), RETRIED_WITHIN_S)
    new = setting.password.with_suffix(".new")
    new.touch(0o600)
    new.write_text(password)
    if setting.password.is_dir():
        setting.password.rmdir()
    new.rename(setting.password)
    if setting.daemon.process.poll() is not None:
        setting.complaints.append(f"the daemon has ended with exit code {setting.daemon.process.returncode}")
    return time.time()


def child_of_another_version(setting: Setting) -> float | None:
    """As where somebody installs another edged under a hub that runs: its next camera or worker is of that.

    Nothing is refused where the hub ends that process before it greets, as a fallback no longer required.
    """
    start, words = time.time(), setting.chance.choice([("worker",), ("camera", "door"), ("camera", "yard")])
    child = setting.child(*words)
    greeted = setting.skew.with_suffix(".greeted")
    greeted.unlink(missing_ok=True)
    setting.skew.touch()
    _signal(child, signal.SIGKILL)
    with suppress(AssertionError):
        eventually(lambda: not setting.skew.exists(), RETRIED_WITHIN_S)
        try:
            eventually(lambda: setting.events("refused", start), START_S)
        except AssertionError:
            if greeted.exists():
                setting.complaints.append(f"no event refuses {words[0]}")
        return time.time()
    setting.skew.unlink(missing_ok=True)
    return None


def broker_hangs(setting: Setting) -> float | None:
    """While a camera goes and comes back, of which the broker has heard nothing."""
    if not setting.bridged:
        return None
    setting.bridged.broker_hangs()
    begun = time.monotonic()
    _signal(setting.child("camera", "door"), signal.SIGKILL)
    time.sleep(max(0.0, begun + BROKER_HANGS_S - time.monotonic()))
    setting.bridged.broker_goes_on()
    start = time.time()
    setting.complaints += setting.bridged.faults([*setting.config["cameras"]], start)
    return start


def strangers_at_the_view(setting: Setting) -> float | None:
    if not setting.view:
        return None
    setting.view.strangers_come()
    if not setting.view.serves_its_owner():
        setting.complaints.append("the owner of the view is locked out")
    return time.time()


def strangers_leave(setting: Setting) -> None:
    if setting.view:
        setting.view.strangers_leave()


def _signal(process: psutil.Process, number: int) -> float:
    with suppress(psutil.NoSuchProcess):  # it has just ended
        process.send_signal(number)
    return time.time()


def _reload(setting: Setting, text: str, expected: int) -> float:
    path = setting.folder / "edged.yaml"
    before = path.read_text()
    path.write_text(text)
    done = edged("reload", path, env={"XDG_STATE_HOME": str(setting.folder)})
    if expected:
        path.write_text(before)
    assert done.returncode == expected, done.stderr
    return time.time()


FAULTS = (
    Fault("worker SIGKILL", worker_signal(signal.SIGKILL), 15),
    Fault("worker SIGSTOP", worker_signal(signal.SIGSTOP), 15),
    Fault("worker SIGSEGV", worker_crashes, 15),
    Fault("camera SIGKILL", camera_signal(signal.SIGKILL), 15),
    Fault("camera SIGSTOP", camera_signal(signal.SIGSTOP), 15),
    Fault("RTSP server killed", rtsp_dies, 15),
    Fault("RTSP server paused", rtsp_stalls, 15),
    Fault(
        "RTSP server: 20 pictures stamped as 25",
        stamps_of_another_rate,
        15,
        heal=stamps_as_usual,
        expected="the connection stays, and no picture is stale",
    ),
    Fault(
        "program of a camera dies", program_signal(*DIES), 15, heal=one_program_runs, expected="one program runs"
    ),
    Fault(
        "program of a camera hangs", program_signal(*HANGS), 20, heal=one_program_runs, expected="one program runs"
    ),
    Fault(
        f"program: a picture in {SLOW_S:g} s",
        pictures_come_slowly,
        15,
        heal=pictures_come_as_usual,
        expected="each is predicted, and the program goes on",
    ),
    Fault("hub SIGKILL", hub_dies, 30, of_hub=True),
    Fault(
        "hub SIGKILL, cache damaged", hub_dies_and_the_cache_is_damaged, 90, of_hub=True
    ),  # every kernel is built again
    Fault("hub SIGKILL, journal damaged", hub_dies_and_the_journal_is_damaged, 30, of_hub=True),
    Fault("journal's disk full", disk_of_the_journal_is_full, 5, heal=there_is_room),
    Fault("kernel never returns", job_meets("endless"), 15),
    Fault("kernel computes NaN", job_meets("not a number"), 15),
    Fault("OpenCL call fails", driver_fails, 15),
    Fault("worker stuck in the kernel", worker_sticks_in_the_kernel, 15, heal=disk_is_thawed),
    Fault("worker without memory", worker_gets_no_memory, 15),
    Fault("garbage on every port", garbage_on_every_port, 5),
    Fault("reload, a good file", good_reload, 15),
    Fault("reload, a bad file", bad_reload, 5),
    Fault(
        "40 subscribers catch up", crowd("catch_up", 40), 5, heal=crowd_has_all, expected="each gets all it missed"
    ),
    Fault(
        "30 subscribers ask and leave", crowd("leave", 30), 5, heal=crowd_has_left, expected="others are answered"
    ),
    Fault(
        "40 subscribers never read",
        crowd("never_read", 40),
        5,
        heal=crowd_has_left,
        expected="others are answered",
    ),
    Fault(
        "40 subscribers to 3000 topics", crowd("flood", 40), 5, heal=crowd_has_left, expected="others are answered"
    ),
    Fault(
        "300 subscribers to 50 topics", crowd("rise", 300), 5, heal=crowd_has_left, expected="others are answered"
    ),
    Fault("journal removed", journal_is_removed, 5, expected="an event says so, with what is lost"),
    Fault("hub SIGKILL, wrong clock", hub_dies_and_the_clock_is_wrong, 30, True, expected="the journal keeps all"),
    Fault("hub SIGKILL, stdout full", hub_dies_and_its_output_is_full, 30, of_hub=True),
    Fault("hub SIGKILL, stdout closed", hub_dies_and_its_output_is_closed, 30, of_hub=True),
    Fault("password file missing", secret_file_goes, 30, expected="the daemon goes on without that camera"),
    Fault("another version", child_of_another_version, 30, expected="an event refuses it"),
    Fault("MQTT broker hangs", broker_hangs, 15, expected="it gets the present states and predictions"),
    Fault(
        "view: half requests, slow readers",
        strangers_at_the_view,
        5,
        heal=strangers_leave,
        expected="its owner sees the page",
    ),
)
