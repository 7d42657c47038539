"""What a hub would publish, for the tests of the view."""

import msgspec

from edged.client.subscription import Arrival, SnapshotPicture
from edged.messages import CameraState, Label, Prediction, SnapshotHeader, Status, to_json
from tests.messages.examples import PREDICTION

JPEG = b"\xff\xd8\xff"


def prediction(frame: int, label: str = "7", camera: str = "door", node: str = "box") -> Prediction:
    """Captured `frame` seconds after 1970."""
    top = (Label(label=label, index=0, score=0.98),)
    return msgspec.structs.replace(
        PREDICTION, node=node, camera=camera, frame=frame, captured_at=float(frame), top=top
    )


def arrival(frame: int, label: str = "7", camera: str = "door", node: str = "box") -> Arrival:
    found = prediction(frame, label, camera, node)
    return Arrival(found, to_json(found))


def picture(frame: int, camera: str = "door", node: str = "box") -> SnapshotPicture:
    header = SnapshotHeader(
        node=node, boot="6f1c", camera=camera, frame=frame, captured_at=float(frame), width=4, height=3
    )
    return SnapshotPicture(header, JPEG + bytes([frame]))


def status(*cameras: str, snapshots: bool = True) -> Status:
    state = CameraState(up=True, captured=9, predicted=9, dropped={}, reconnects=0, snapshots=snapshots)
    return Status(
        node="box",
        boot="6f1c",
        at=100.0,
        first_seq=0,
        last_seq=9,
        replay="tcp://127.0.0.1:1",
        cameras={},
        camera_states=dict.fromkeys(cameras, state),
    )
