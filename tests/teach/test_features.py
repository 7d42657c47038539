"""Features are kept by model, and never missed where they are gone."""

from pathlib import Path

import numpy as np
import pytest

from edged import config
from edged.engine.device import Device, list_devices
from edged.model import reference
from edged.model.cuts import part
from edged.model.head import features_of
from edged.model.package import Model, load_model
from edged.teach.features import FeatureFiles, Vector, all_features, features_key
from edged.teach.store import CropStore
from tests.cli.models import small_network
from tests.teach.crops import a_store

PLACES = [None, *[device for device in list_devices() if device.kind == "cpu"][:1]]


@pytest.fixture(scope="module")
def digits() -> Model:
    return load_model(config.ModelConfig(name="digits"))


def vectors(*crops: str) -> dict[str, Vector]:
    return {crop.ljust(64, "0"): np.full(128, place, np.float32) for place, crop in enumerate(crops, 1)}


def equal(ours: dict[str, Vector], others: dict[str, Vector]) -> bool:
    return ours.keys() == others.keys() and all(np.array_equal(ours[crop], others[crop]) for crop in ours)


def the_last(store: CropStore, model: Model) -> dict[str, Vector]:
    return list(all_features(store, model, None))[-1][1]


def test_what_several_recordings_have_added_is_there_and_compacted(folder: Path, digits: Model) -> None:
    files = FeatureFiles(folder, digits)
    files.add(vectors("a"))
    files.add({})
    files.add(vectors("b", "c"))

    assert equal(files.load(), vectors("a") | vectors("b", "c"))
    files.compact(vectors("b", "c"))
    assert equal(files.load(), vectors("b", "c"))
    assert len(list(folder.glob("features/*/*.npy"))) == 1


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY", b"x" * 1000])
def test_a_damaged_file_is_left_out(
    folder: Path, digits: Model, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    files = FeatureFiles(folder, digits)
    files.add(vectors("a"))
    next(folder.glob("features/*/*.npy")).write_bytes(content)

    assert files.load() == {}
    assert "or is damaged: its features are computed again" in caplog.text


def test_another_model_or_another_preparation_of_its_input_has_features_of_its_own(digits: Model) -> None:
    darker = load_model(config.ModelConfig(name="digits", scale=1 / 300))
    assert features_key(digits) != features_key(darker)


def test_features_that_no_worker_has_sent_are_computed_and_kept(folder: Path, digits: Model) -> None:
    store = a_store(folder, 2, side=120)
    assert [len(known) for _, known in all_features(store, digits, None)] == [0, 4]

    counts = [todo for todo, _ in all_features(store, digits, None)]

    assert counts == [0]
    assert the_last(store, digits)[store.crops[0].sha256].shape == (128,)


def test_a_crop_of_another_size_is_stretched(folder: Path, digits: Model) -> None:
    store = a_store(folder, 2, side=24)
    assert len(the_last(store, digits)) == 4


@pytest.mark.parametrize("place", PLACES, ids=["numpy", "cpu"][: len(PLACES)])
def test_a_gray_network_has_features_of_coloured_crops(folder: Path, tmp_path: Path, place: Device | None) -> None:
    small_network(tmp_path / "gray.onnx", channels=1)
    gray = load_model(config.ModelConfig(path=tmp_path / "gray.onnx", color="gray"))
    store = a_store(folder, 2, side=16)

    features = list(all_features(store, gray, place))[-1][1]

    graph = part(gray.graph, None, features_of(gray.graph))
    expected = reference.run(graph, reference.prepare(store.pixels(store.crops[0])[np.newaxis], gray.input))
    assert features[store.crops[0].sha256] == pytest.approx(expected[0], rel=1e-4)
