"""What a hub says, with what a test is about."""

from typing import Any

import msgspec

from edged.messages import (
    CameraState,
    EnergySoFar,
    Event,
    Label,
    Prediction,
    PredictionEnergy,
    PredictionModel,
    StageSeconds,
    Status,
)

MODEL = PredictionModel(name="m", sha256="0", precision="fp32", device="d", worker="local-0")
SECONDS = StageSeconds(
    capture=0.0, preprocess=0.0, wait=0.0, upload=0.0, forward=0.0, download=0.0, publish=0.0, total=0.0
)


def prediction(label: str = "yes", *, at: float = 0.0, total_s: float = 0.0, **fields: Any) -> Prediction:
    """Captured and published at `at`."""
    joules = fields.pop("joules", None)
    energy = PredictionEnergy(joules=joules, method="none" if joules is None else "measured", rails=())
    whole = {
        "node": "test",
        "boot": "b",
        "seq": 0,
        "camera": "door",
        "frame": 0,
        "captured_at": at,
        "published_at": at,
        "model": MODEL,
        "top": (Label(label=label, index=1, score=0.9),),
        "seconds": msgspec.structs.replace(SECONDS, total=total_s),
        "energy": energy,
    }
    return Prediction(**{**whole, **fields})


def camera(**fields: Any) -> CameraState:
    """One that gives frames."""
    whole = {"up": True, "captured": 10, "predicted": 10, "dropped": {}, "reconnects": 0}
    return msgspec.convert({**whole, **fields}, CameraState)


def status(
    at: float = 0.0, *, boot: str = "b", node: str = "test", rails: dict[str, float] | None = None, **cameras: Any
) -> Status:
    """`cameras`: their states."""
    return Status(
        node=node,
        boot=boot,
        at=at,
        first_seq=0,
        last_seq=0,
        replay="",
        cameras={},
        camera_states=cameras,
        energy=EnergySoFar(rails=rails or {}, method="measured" if rails else "none"),
    )


def event(what: str, message: str = "", *, camera: str | None = "door") -> Event:
    return Event(node="test", boot="b", at=0.0, event=what, camera=camera, message=message)
