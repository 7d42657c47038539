"""Crops that `edged teach` has recorded."""

import json
from pathlib import Path

import pytest

from edged.cli.training_data import read_crops
from edged.errors import EdgedError
from edged.model.package import Input
from edged.teach.store import CropStore
from tests.teach.crops import a_store, release_locks
from tests.train.commands import train

WANTED = Input(12, 12, "gray", 1 / 255, (0.0,), (1.0,))


@pytest.fixture(name="store")
def store_fixture(tmp_path: Path) -> CropStore:
    store = a_store(tmp_path / "teach", count=12)
    release_locks()
    return store


def test_what_teach_holds_back_is_the_test(store: CropStore) -> None:
    training, test, labels = read_crops(store.folder, None, WANTED)

    held_back = sum(crop.held_back for crop in store.crops)
    assert test is not None
    assert (len(training), len(test), labels) == (24 - held_back, held_back, ("bar", "disc"))
    assert training.images.shape[1:] == (12, 12, 1)
    assert sorted({*training.labels.tolist()}) == [0, 1]


@pytest.mark.deep
def test_a_network_of_its_own_learns_them(store: CropStore, tmp_path: Path) -> None:
    path = tmp_path / "in.yaml"
    path.write_text(
        "name: shapes\ndata: {crops: teach}\ninput: {width: 12, height: 12, color: gray}\n"
        "layers: [flatten, {dense: classes}]\ntrain: {batch: 8, epochs: 2, validation: 0}\n"
    )

    assert train(path, "--output", tmp_path / "out") == 0

    assert json.loads((tmp_path / "out" / "metrics.json").read_text())["labels"] == ["bar", "disc"]


def test_labels_that_there_are_not(store: CropStore) -> None:
    with pytest.raises(EdgedError, match="disc is not one of the labels: bar, ring"):
        read_crops(store.folder, ("bar", "ring"), WANTED)
    with pytest.raises(EdgedError, match="no crop of the label ring to train on: use"):
        read_crops(store.folder, ("bar", "disc", "ring"), WANTED)


def test_a_damaged_crop_is_named(store: CropStore) -> None:
    path = store.path(store.crops[3])
    path.write_bytes(path.read_bytes()[:-20])

    with pytest.raises(EdgedError, match=path.name):
        read_crops(store.folder, None, WANTED)


def test_a_folder_without_crops(tmp_path: Path) -> None:
    with pytest.raises(EdgedError, match="expected crops of two or more labels, found 0"):
        read_crops(tmp_path, None, WANTED)
