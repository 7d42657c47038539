"""From what nothing good can be learnt, and what is done about it."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from edged.teach.fit import check, split
from edged.teach.store import CropStore
from edged.teach.store_files import StoreError
from tests.teach.crops import a_store, record, shape


def refusal(store: CropStore) -> str:
    with pytest.raises(StoreError) as error:
        check(store)
    return str(error.value)


def test_two_labels_with_some_crops_each_are_accepted(folder: Path) -> None:
    check(a_store(folder, 8))


def test_no_crops_and_one_label_alone_are_refused(folder: Path) -> None:
    store = CropStore.open(folder)
    assert "has no crops yet: record two labels at least" in refusal(store)

    record(store, "disc", 5, side=24)
    assert "has one label alone, disc" in refusal(store)


def test_a_label_with_one_crop_is_refused_by_name_and_file(folder: Path) -> None:
    store = a_store(folder, 5)
    record(store, "ring", 1, side=24)
    (only,) = (crop for crop in store.crops if crop.label == "ring")

    assert f"the label ring has one crop alone ({store.path(only)}): record more" in refusal(store)


def test_a_label_of_which_all_is_held_back_is_refused(folder: Path) -> None:
    store = a_store(folder, 8)
    seeds = [n for n in range(30) if (store.add(shape("ring", n, 24), "ring", "door", 1.0) or 0)]
    for crop in [crop for crop in store.crops if crop.label == "ring" and not crop.held_back]:
        store.forget(crop.file.removesuffix(".png"))

    assert seeds
    assert "crops of the label ring are held back for judging: record some more" in refusal(store)


def test_the_same_picture_under_two_labels_is_refused_with_its_files(folder: Path) -> None:
    store = a_store(folder, 5)
    one = next(crop for crop in store.crops if crop.label == "bar")
    shutil.copy(store.path(one), folder / "crops/disc")

    store = CropStore.open(folder)

    assert f"{store.path(one)} is also under disc" in refusal(store)
    store.forget(f"disc/{one.sha256[:12]}")
    check(store)


def test_a_damaged_crop_is_refused_with_its_file_until_it_is_set_aside(folder: Path) -> None:
    store = a_store(folder, 8)
    path = store.path(store.crops[0])
    path.write_bytes(b"no picture")

    store = CropStore.open(folder)

    assert f"{path} is damaged or cut off (10 bytes)" in refusal(store)
    store.repair()
    check(store)


def test_what_is_held_back_is_not_trained_on_and_the_order_is_that_of_no_recording(folder: Path) -> None:
    store = a_store(folder, 20)
    features = {crop.sha256: np.array([place], np.float32) for place, crop in enumerate(store.crops)}

    train, held_back = split(store, features)

    assert sorted([*train.features[:, 0], *held_back.features[:, 0]]) == list(range(40))
    assert len(held_back) == sum(crop.held_back for crop in store.crops)
    assert list(train.features[:, 0]) != sorted(train.features[:, 0])
    assert train.labels == held_back.labels == ("bar", "disc")
