"""Cameras and workers that do as the test says: `python -m tests.hub.peers camera|worker …`, in place of `edged`.

The name of a camera and the device of a worker say how it behaves (see CAMERAS and WORKERS).
"""

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from edged.clock import now_ns, wall_s
from edged.messages import (
    CameraCount,
    CameraReport,
    Capture,
    Features,
    Frame,
    Grant,
    HeadLoaded,
    Job,
    JobFailed,
    LinkMessage,
    LoadHead,
    ModelInfo,
    Part,
    Score,
    Scores,
    Stop,
    WorkerHello,
    decode,
    encode,
)
from edged.system.process_end import end_with_parent
from tests.hub.frames import hello_of
from tests.link_ends import PeerEnd

SIDE = 120
MODEL = ModelInfo(name="told", sha256="0" * 64, labels=("no", "yes"), width=SIDE, height=SIDE)

if TYPE_CHECKING:
    from edged.config import Config


def frames(name: str, count: int, every_s: float) -> Iterator[bytes]:
    """Headers of frames, at their time."""
    start = time.monotonic()
    for number in range(count):
        time.sleep(max(0.0, start + number * every_s - time.monotonic()))
        yield encode(
            Frame(
                camera=name,
                frame=number,
                captured_at=wall_s(),
                captured_ns=now_ns(),
                capture_s=0.0,
                preprocess_s=0.0,
                width=SIDE,
                height=SIDE,
                truth="yes",
                count=CameraCount(captured=number + 1, dropped={}),
            )
        )


def steady(hub: PeerEnd, name: str) -> None:
    """100 frames a second for ever."""
    pixels = bytes(SIDE * SIDE * 3)
    for header in frames(name, 1_000_000_000, 0.01):
        hub.send(header, pixels)
        if hub.poll(0) and isinstance(hub.message(), Stop):
            return


def short(hub: PeerEnd, name: str) -> None:
    """Ten frames of the right size and one of a wrong one, then the end."""
    for header in frames(name, 11, 0.01):
        frame = decode(header)
        assert isinstance(frame, Frame)
        hub.send(header, bytes(3 if frame.frame == 5 else SIDE * SIDE * 3))
    last = CameraReport(camera=name, up=False, ended=True, count=CameraCount(captured=11, dropped={}))
    hub.send(encode(last))


def silent(hub: PeerEnd, name: str) -> None:
    """Never sends anything."""
    wait_for(hub, Stop)


def old(hub: PeerEnd, name: str) -> None:
    """Speaks a protocol that nobody knows any more."""
    hub.send(b'{"kind":"camera_hello","protocol":0,"name":"old"}')
    wait_for(hub, Stop)


def of_another_version(hello: WorkerHello) -> bytes:
    """As `edged` said it before it had versions: some fields less, one that nobody has any more."""
    fields = json.loads(encode(hello))
    for later in ("edged", "host", "part", "features"):
        del fields[later]
    return json.dumps(fields | {"protocol": 1, "floats": 3}).encode()


CAMERAS: dict[str, Callable[[PeerEnd, str], None]] = {
    "steady": steady,
    "short": short,
    "silent": silent,
    "old": old,
}


def good(job: Job) -> LinkMessage:
    top = (Score(index=1, score=0.9), Score(index=0, score=0.1))
    return Scores(
        job=job.job,
        frames=(top,) * job.frames,
        upload_s=0.0,
        forward_s=0.0,
        download_s=0.0,
        joules=0.5 * job.frames,
        rails={"GPU": 0.5 * job.frames},
    )


def slow(job: Job) -> LinkMessage:
    time.sleep(0.05)
    return good(job)


def broken(job: Job) -> LinkMessage:
    return JobFailed(job=job.job, reason="device_error", error="CL_OUT_OF_RESOURCES")


def not_a_number(job: Job) -> LinkMessage:
    return JobFailed(job=job.job, reason="not_finite", error="2 outputs are NaN")


def unknown_class(job: Job) -> LinkMessage:
    return msgspec.structs.replace(good(job), frames=((Score(index=7, score=1.0),),) * job.frames)


CROSSING = 3  # values of a frame, where the network is cut


def features(job: Job, values: int = CROSSING) -> list[bytes]:
    """The answer of a part that ends at a cut."""
    header = Features(job=job.job, upload_s=0.0, forward_s=0.0, download_s=0.0, joules=0.5 * job.frames)
    return [encode(header), bytes(4 * values * job.frames)]


def part_between(begin: str | None, end: str | None) -> Part | None:
    """As a worker says it: the config names the beginning of an operator's name."""
    if not begin and not end:
        return None
    return Part(
        begin=begin and f"{begin}.conv",
        end=end and f"{end}.conv",
        values_in=CROSSING if begin else 0,
        values_out=CROSSING if end else 0,
    )


WORKERS: dict[str, Callable[[Job], LinkMessage]] = {
    "good": good,
    "numpy": good,
    "compiles": good,
    "hangs": good,
    "older": good,
    "unlike_features": good,
    "short_features": good,
    "slow": slow,
    "stubborn": good,
    "silent_pupil": good,
    "broken": broken,
    "not_a_number": not_a_number,
    "unknown_class": unknown_class,
}


def read_config(file: Path) -> "Config":
    from edged.config.load import load_config  # half of what a camera would wait for at its start

    return load_config(file)


def worker(hub: PeerEnd, index: int, config: Path) -> None:
    whole = read_config(config)
    settings, part = whole.workers[index], part_between(*whole.ends_of(index))
    device = once(settings.device, config)
    if device.startswith("exit "):
        print("told to exit", file=sys.stderr)
        sys.exit(int(device.removeprefix("exit ")))
    if device == "compiles":
        journal = whole.journal.path or config
        while not journal.with_name("compiled").exists():
            time.sleep(0.01)
    answer = WORKERS[device.removeprefix("other ")]
    model = msgspec.structs.replace(MODEL, sha256="1" * 64) if device.startswith("other ") else MODEL
    hello = WorkerHello(
        worker=f"local-{index}",
        device=device,
        precision="fp32",
        batch=settings.batch,
        credit=settings.credit,
        forward_s=1.0 if device == "slow" else 0.0,
        model=model,
        part=part,
        features=0 if device == "stubborn" else CROSSING,
        energy="measured",
    )
    hub.send(of_another_version(hello) if device == "older" else encode(hello))
    while not isinstance(message := decode((received := hub.receive())[0]), Stop):
        if isinstance(message, LoadHead) and device != "silent_pupil":
            refused = "it has no place for it" if device == "stubborn" else ""
            hub.send(encode(HeadLoaded(version=message.version, refused=refused)))
        if device == "hangs":
            time.sleep(1000)
        if device == "older":  # it does not know what is said to it
            continue
        if not isinstance(message, Job) or message.timeout_s <= 0:
            continue
        if part and part.begin:
            assert received[1:] == [bytes(4 * CROSSING * message.frames)]
        answered = answer(message)
        if part and part.end and device != "unlike_features":
            hub.send(*features(message, 1 if device == "short_features" else CROSSING))
        elif isinstance(answered, Scores):
            shadow = answered.frames if message.shadow else ()
            extra = [bytes(4 * CROSSING * message.frames)] if message.features else []
            hub.send(encode(msgspec.structs.replace(answered, shadow=shadow)), *extra)
        else:
            hub.send(encode(answered))


def once(device: str, config: Path) -> str:
    """`good then exit 2` is `good` at its first start and `exit 2` at every later one.

    `exit 3 until repaired then good` is `exit 3` until there is a file `repaired` beside the journal.
    """
    first, _, later = device.partition(" then ")
    until = first.partition(" until ")[2]
    if until:
        journal = read_config(config).journal.path
        return later if journal and journal.with_name(until).exists() else first.partition(" until ")[0]
    started = config.with_name(f"started-{first}")
    if later and started.exists():
        return later
    started.touch()
    return first


def camera(hub: PeerEnd, name: str) -> None:
    if name != "old":
        hub.send(encode(hello_of(name)))
        if not wait_for(hub, Capture):
            return
    CAMERAS[name.partition("-")[0]](hub, name)


def wait_for(hub: PeerEnd, kind: type[LinkMessage]) -> bool:
    """Until a message of this kind comes; False for a stop in its place."""
    while not isinstance(message := hub.message(), kind | Stop):
        assert isinstance(message, Grant | Capture)
    return isinstance(message, kind)


def main() -> None:
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parser = argparse.ArgumentParser()
    parser.add_argument("verb", choices=["camera", "worker"])
    parser.add_argument("which", nargs="?")
    parser.add_argument("--on-request", action="store_true")
    parser.add_argument("--config", type=Path)
    parser.add_argument("--hub")
    arguments = parser.parse_args()
    if arguments.on_request:
        arguments.which = sys.stdin.readline().strip() or sys.exit(0)
    name = arguments.which if arguments.verb == "camera" else f"local-{arguments.which}"
    hub = PeerEnd(arguments.hub, f"{arguments.verb}/{name}")
    if arguments.verb == "camera":
        camera(hub, name)
    else:
        worker(hub, int(arguments.which), arguments.config)
    hub.close()
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
