"""What a hub hears and says on a real link."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from edged import config
from edged.config import CameraConfig
from edged.hub.liveness import SILENT_NS
from edged.hub.publish.publisher import JPEG
from edged.messages import (
    CameraCount,
    CameraHello,
    CameraReport,
    Capture,
    Grant,
    LinkMessage,
    ModelInfo,
    Snapshot,
    Stop,
    encode,
)
from tests.eventually import eventually
from tests.hub.frames import hello_of
from tests.hub.pipeline import PipelineParts, running_pipeline
from tests.link_ends import PeerEnd

MODEL = ModelInfo(name="m", sha256="0", labels=("a",), width=2, height=2)
NOTHING = CameraCount(captured=0, dropped={})


class Desk:
    """The hub's cameras, with a peer of any name at the other end."""

    def __init__(
        self, parts: PipelineParts, settings: dict[str, CameraConfig], published: list[Snapshot], address: str
    ) -> None:
        self._address = address
        self._peers: list[PeerEnd] = []
        self._links = parts.node.links
        self._metrics = parts.metrics
        self.settings = settings
        self.published = published
        self.pipeline = parts.pipeline
        self.liveness = parts.node.liveness
        self.snapshots = parts.snapshots
        self.cameras = parts.node.cameras

    def peer(self, name: str) -> PeerEnd:
        peer = PeerEnd(self._address, name)
        self._peers.append(peer)
        return peer

    def hear(self, now: int = 0) -> list[str]:
        """Take the next message in; the names of what has happened."""
        received = eventually(self._links.receive)
        assert received
        return [notice.event for notice in self.pipeline.receive_message(received, now)]

    def message(self) -> str:
        """Take the next message in; the text of what has happened."""
        received = eventually(self._links.receive)
        assert received
        return " ".join(notice.message for notice in self.pipeline.receive_message(received, 0))

    def value(self, metric: str) -> float | None:
        """Of the camera `door`."""
        return self._metrics.registry.get_sample_value(metric, {"camera": "door"})

    def close(self) -> None:
        for peer in self._peers:
            peer.close()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    settings = {"door": CameraConfig(source=0), "folder": CameraConfig(source="pictures")}
    published: list[Snapshot] = []
    with running_pipeline(
        tmp_path, settings, publish_snapshot=lambda snapshot, _: published.append(snapshot)
    ) as parts:
        desk = Desk(parts, settings, published, f"unix://{tmp_path}/hub")
        yield desk
        desk.close()


def said(peer: PeerEnd) -> LinkMessage:
    return peer.message()


def report(**fields: object) -> bytes:
    return encode(msgspec.convert({"camera": "door", "up": True, "count": NOTHING, **fields}, CameraReport))


def test_a_camera_captures_once_it_is_known_what_the_model_wants(desk: Desk) -> None:
    door = desk.peer("camera/door")
    door.send(encode(hello_of("door")))
    desk.hear()
    assert not door.poll(0)
    desk.cameras.start_capture(MODEL)
    assert said(door) == Capture(width=2, height=2)


def test_a_camera_receives_how_pictures_take_the_models_size(desk: Desk) -> None:
    desk.cameras.start_capture(msgspec.structs.replace(MODEL, resize="center-crop"))
    door = desk.peer("camera/door")
    door.send(encode(hello_of("door")))
    desk.hear()
    assert said(door) == Capture(width=2, height=2, resize="center-crop")


def test_a_camera_that_joins_later_may_capture_at_once_and_a_paced_one_gets_its_grant(desk: Desk) -> None:
    desk.cameras.start_capture(MODEL)
    folder = desk.peer("camera/folder")
    folder.send(encode(hello_of("folder", waits=True)))
    desk.hear()
    assert said(folder) == Capture(width=2, height=2)
    assert desk.pipeline.advance(gathers=False) == []
    assert said(folder) == Grant(frames=2)


@pytest.mark.parametrize(("name", "hello"), [
    ("camera/window", hello_of("window")),
    ("camera/door", hello_of("folder")),
    ("camera/door", hello_of("door", protocol=99)),
])  # fmt: skip
def test_a_peer_that_does_not_fit_is_refused_with_the_reason(desk: Desk, name: str, hello: CameraHello) -> None:
    peer = desk.peer(name)
    peer.send(encode(hello))
    desk.hear()
    answer = said(peer)
    assert isinstance(answer, Stop)
    assert answer.refused


def test_up_and_down_are_reported_once(desk: Desk) -> None:
    door = desk.peer("camera/door")
    told = []
    for message in (report(), report(), report(up=False, error="unplugged"), report(up=False, error="unplugged")):
        door.send(message)
        told += desk.hear()
    assert told == ["camera_up", "camera_down"]
    assert desk.cameras.state("door") == "down: unplugged"


def test_a_frozen_camera_is_reported_with_the_way_in_which_it_is_frozen(desk: Desk) -> None:
    door = desk.peer("camera/door")
    for message in (report(), report(frozen=True), report(), report(frozen=True, still=True)):
        door.send(message)
    messages = [desk.message() for _ in range(4)]
    assert "the same picture again and again" in messages[1]
    assert "gives new pictures again" in messages[2]
    assert "nothing in its scene has changed" in messages[3]
    assert desk.cameras.states.is_still("door")
    assert desk.value("edged_camera_frozen") == 1


def test_a_camera_that_has_ended_is_told_apart_from_one_that_is_down(desk: Desk) -> None:
    door = desk.peer("camera/door")
    door.send(report())
    desk.hear()
    assert desk.value("edged_camera_ended") == 0

    door.send(report(up=False, ended=True))
    desk.hear()

    assert desk.value("edged_camera_up") == 0
    assert desk.value("edged_camera_ended") == 1


def test_a_camera_that_says_nothing_is_down_until_it_speaks_again(desk: Desk) -> None:
    door = desk.peer("camera/door")
    door.send(report())
    desk.hear(now=1000)
    assert desk.value("edged_camera_up") == 1

    notices = desk.cameras.states.silenced(desk.liveness.newly_silent(1000 + SILENT_NS))
    assert [(notice.event, notice.camera) for notice in notices] == [("camera_down", "door")]
    assert desk.value("edged_camera_up") == 0
    assert desk.cameras.state("door").startswith("down: its process has sent nothing for 2.5 s")

    door.send(report())
    assert desk.hear() == ["camera_up"]
    assert desk.value("edged_camera_up") == 1
    assert desk.value("edged_camera_reconnects_total") == 1


def test_a_camera_that_is_down_already_falls_silent_without_a_word(desk: Desk) -> None:
    door = desk.peer("camera/door")
    door.send(report(up=False, error="unplugged"))
    desk.hear(now=1000)

    assert desk.cameras.states.silenced(desk.liveness.newly_silent(1000 + SILENT_NS)) == []
    assert desk.cameras.state("door") == "down: unplugged"


def test_reconnects_are_counted_over_restarts_of_the_process(desk: Desk) -> None:
    door = desk.peer("camera/door")
    door.send(report(reconnects=2))
    desk.hear()
    desk.cameras.left("door")
    door.send(report(reconnects=1))
    desk.hear()
    assert desk.value("edged_camera_reconnects_total") == 4


def test_snapshots_are_asked_for_and_left_off_while_a_camera_runs(desk: Desk) -> None:
    desk.cameras.start_capture(MODEL)
    door = desk.peer("camera/door")
    door.send(encode(hello_of("door")))
    desk.hear()
    assert said(door) == Capture(width=2, height=2)

    often = {"door": CameraConfig(source=0, snapshot=config.SnapshotConfig(every_s=2))}
    desk.cameras.set_snapshots(often, ["door", "folder"])  # the folder has yet to say hello
    asked = said(door)
    assert isinstance(asked, Capture)
    assert asked.snapshot
    assert asked.snapshot.every_s == 2

    desk.cameras.set_snapshots(desk.settings, ["door"])
    assert said(door) == Capture(width=2, height=2)


def test_a_snapshot_goes_to_who_looks_on(desk: Desk) -> None:
    desk.snapshots.grant({"door": CameraConfig(source=0, snapshot=config.SnapshotConfig())})
    door = desk.peer("camera/door")
    snapshot = Snapshot(camera="door", frame=3, captured_at=1.0, width=4, height=3)
    door.send(encode(snapshot), JPEG)
    assert desk.hear() == []
    assert desk.published == [snapshot]
