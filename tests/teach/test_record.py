"""What the hub tells of a camera becomes crops and features."""

from pathlib import Path

import numpy as np
import pytest

from edged import config
from edged.cli.teach.record import Recorder
from edged.errors import EdgedError
from edged.messages import Label
from edged.messages.teaching import CropSample
from edged.model.package import Model, load_model
from edged.teach.features import FeatureFiles
from edged.teach.store import CropStore
from tests.teach.crops import shape


@pytest.fixture(scope="module")
def digits() -> Model:
    return load_model(config.ModelConfig(name="digits"))


def taught(frame: int, seed: int | None = None) -> tuple[CropSample, bytes]:
    pixels = shape("disc", frame if seed is None else seed)
    top = (Label(label="7", index=7, score=0.9),)
    message = CropSample(
        camera="door", frame=frame, captured_at=1000.0 + frame, width=120, height=120, features=128, top=top
    )
    return message, pixels.tobytes() + np.full(128, frame, "<f4").tobytes()


def test_crops_are_kept_with_their_features(folder: Path, digits: Model) -> None:
    files = FeatureFiles(folder, digits)
    recorder = Recorder(CropStore.open(folder), files, "open")
    for frame in (1, 2):
        recorder.add(*taught(frame))
    recorder.close()

    store = CropStore.read(folder)

    assert [(crop.label, crop.camera, crop.recorded_at) for crop in store.crops] == [
        ("open", "door", 1001.0),
        ("open", "door", 1002.0),
    ]
    assert np.array_equal(store.pixels(store.crops[1]), shape("disc", 2))
    assert [files.load()[crop.sha256][0] for crop in store.crops] == [1, 2]


def test_the_same_pixels_are_counted_but_not_kept_twice(folder: Path, digits: Model) -> None:
    recorder = Recorder(CropStore.open(folder), FeatureFiles(folder, digits), "open")
    for frame in (1, 2, 3):
        recorder.add(*taught(frame, seed=0))

    assert (recorder.new, recorder.same) == (1, 2)


def test_pixels_that_lie_under_another_label_are_reported(folder: Path, digits: Model) -> None:
    store = CropStore.open(folder)
    for label in ("open", "closed"):
        recorder = Recorder(store, FeatureFiles(folder, digits), label)
        recorder.add(*taught(1))

    assert recorder.elsewhere == {"open"}


def test_a_payload_of_another_size_is_refused(folder: Path, digits: Model) -> None:
    recorder = Recorder(CropStore.open(folder), FeatureFiles(folder, digits), "open")
    message, payload = taught(1)
    with pytest.raises(EdgedError, match="received a crop of 43711 bytes, expected 43712"):
        recorder.add(message, payload[:-1])
