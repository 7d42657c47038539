"""What was recorded is there again, whatever happened meanwhile."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import cv2
import numpy as np
import pytest

from edged.cli.training_data import read_folders
from edged.errors import ConfigError, DeviceError
from edged.model.package import Input
from edged.teach.store import CropStore
from edged.teach.store_crop import is_held_back, label_of, pixels_sha256
from edged.teach.store_files import StoreError
from tests.conftest import ROOT
from tests.disks import a_small_disk, fill
from tests.teach.crops import a_store, record, shape


def names(store: CropStore) -> set[str]:
    return {crop.file for crop in store.crops}


def test_what_was_recorded_is_there_again_pixel_for_pixel(folder: Path) -> None:
    pixels = shape("ring", 0)
    crop = CropStore.open(folder).add(pixels, "open", "door", 1234.5)

    store = CropStore.read(folder)

    assert crop is not None
    assert np.array_equal(store.pixels(crop), pixels)
    assert store.crops[0].label == "open"


def test_the_same_pixels_are_kept_once_a_label(folder: Path) -> None:
    store = CropStore.open(folder)
    first, again, elsewhere = (store.add(shape("bar", 0), label, "door", 1.0) for label in ("a", "a", "b"))

    assert (first is not None, again) == (True, None)
    assert elsewhere is not None
    assert store.labels_of(elsewhere.sha256) == ("a", "b")


def test_the_manifest_tells_counts_by_label_hashes_and_limits(folder: Path) -> None:
    a_store(folder, 10)

    manifest = json.loads((folder / "manifest.json").read_text())

    assert manifest["schema"] == 1
    assert manifest["labels"]["disc"]["crops"] == 10
    assert manifest["limits"] == {"crops": 1000, "megabytes": 512}
    held_back = [crop for crop in manifest["crops"] if is_held_back(crop["sha256"])]
    assert sum(label["held_back"] for label in manifest["labels"].values()) == len(held_back)


def test_one_of_five_is_held_back_and_always_the_same(folder: Path) -> None:
    hashes = [pixels_sha256(np.full((1, n, 3), 7, np.uint8)) for n in range(1, 1001)]
    assert 150 < sum(map(is_held_back, hashes)) < 250


def test_the_oldest_of_a_label_make_room(folder: Path) -> None:
    store = CropStore.open(folder)
    store.limit(crops=3, megabytes=None)

    record(store, "disc", 5)

    assert [crop.recorded_at for crop in store.crops] == [1002, 1003, 1003]
    assert len(list((folder / "crops/disc").iterdir())) == 3


def test_the_oldest_of_the_largest_label_make_room_and_a_small_label_stays(folder: Path) -> None:
    store = CropStore.open(folder)
    record(store, "bar", 2)
    record(store, "disc", 6)
    megabytes = sum(crop.nbytes for crop in store.crops) / 1e6

    store.limit(crops=None, megabytes=megabytes / 2)

    assert sum(crop.label == "bar" for crop in store.crops) == 2
    assert 1 <= sum(crop.label == "disc" for crop in store.crops) < 6
    assert CropStore.read(folder).limits.megabytes == pytest.approx(megabytes / 2)


def test_a_label_is_forgotten_and_a_single_crop_by_the_beginning_of_its_name(folder: Path) -> None:
    store = a_store(folder)
    one = next(crop for crop in store.crops if crop.label == "bar")

    assert store.forget(f"bar/{one.sha256[:10]}") == [one]
    assert len(store.forget("disc")) == 3

    assert {crop.label for crop in CropStore.read(folder).crops} == {"bar"}
    assert not (folder / "crops/disc").exists()
    with pytest.raises(ConfigError, match=r"there is no label disc; there are the labels: bar"):
        store.forget("disc")


@pytest.mark.parametrize("text", ["", "../etc", "a/b", ".hidden", "-x", " a", "a ", "a" * 65, "a\nb", "a\0b"])
def test_a_label_that_cannot_name_a_folder_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="up to 64 letters"):
        label_of(text)


@pytest.mark.parametrize("text", ["open", "half open", "türe auf", "7", "門", "a" * 64])
def test_a_label_may_be_in_any_language(text: str) -> None:
    assert label_of(text) == text


# --- what may have happened to the files -----------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"crops":[{"label":"../.."}]}', b"\xff\0"])
def test_a_damaged_manifest_is_set_aside_and_made_again(folder: Path, content: bytes) -> None:
    before = a_store(folder)
    (folder / "manifest.json").write_bytes(content)

    store = CropStore.open(folder)

    assert names(store) == names(before)
    assert "manifest.json is damaged" in store.damage
    assert (folder / "manifest.damaged.json").read_bytes() == content
    assert not CropStore.read(folder).damage


def test_a_manifest_that_is_gone_is_made_again(folder: Path) -> None:
    before = a_store(folder)
    (folder / "manifest.json").unlink()

    assert names(CropStore.open(folder)) == names(before)
    assert len(json.loads((folder / "manifest.json").read_text())["crops"]) == 6


def test_crops_that_are_gone_are_reported_once(folder: Path) -> None:
    store = a_store(folder)
    lost = store.path(store.crops[0])
    lost.unlink()

    store = CropStore.open(folder)

    assert store.gone == (lost,)
    assert not CropStore.open(folder).gone


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def another_picture(path: Path) -> None:
    cv2.imwrite(str(path), shape("ring", 99, 24))


def another_name(path: Path) -> None:
    path.rename(path.with_name("holiday.png"))


@pytest.mark.parametrize("harm", [cut, empty, another_picture, another_name])
def test_a_file_that_is_no_crop_is_named_and_set_aside_by_a_repair(folder: Path, harm: object) -> None:
    store = a_store(folder)
    assert callable(harm)
    harm(store.path(store.crops[0]))

    store = CropStore.open(folder)
    (problem,) = store.problems
    moved = store.repair()

    assert "expected a PNG whose pixels have the hash that is its name" in str(problem)
    assert "edged teach repair" in str(problem)
    assert [path.parent for path in moved] == [folder / "damaged"]
    assert len(CropStore.read(folder).crops) == 5
    assert not CropStore.read(folder).problems


def test_bits_that_flipped_within_a_file_are_found_when_it_is_read(folder: Path) -> None:
    store = a_store(folder)
    path = store.path(store.crops[0])
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)

    with pytest.raises(StoreError, match=f"{path.name} (is damaged|holds another)"):
        store.pixels(store.crops[0])
    assert len(store.repair()) == 1


def test_a_full_disk_is_one_clear_error_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with a_small_disk(tmp_path / "disk") as disk:
        folder = disk / "test/teach"
        store = a_store(folder)
        before = names(store)
        ballast = fill(disk)

        with pytest.raises(StoreError, match="No space left on device; stored crops are intact: make room"):
            record(store, "disc", 50, first=10)

        assert before <= names(CropStore.read(folder))
        ballast.unlink()
        record(store, "disc", 1, first=99)
        assert not list(folder.rglob(".*"))


def test_two_do_not_write_at_once(folder: Path) -> None:
    opens = "from edged.teach.store import CropStore; CropStore.open(pathlib.Path(sys.argv[1]));"
    holder = f"import sys, pathlib; {opens}"
    script = holder + "print('open', flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", script, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(DeviceError, match=f"teach-test is in use by process {other.pid}"):
            CropStore.open(folder)
        assert CropStore.read(folder).crops == ()
        other.kill()


RECORD_FOR_EVER = """
import sys, pathlib, itertools
from edged.teach.store import CropStore
from tests.teach.crops import shape
store = CropStore.open(pathlib.Path(sys.argv[1]))
for seed in itertools.count(int(sys.argv[2])):
    crop = store.add(shape("disc", seed, 24), "disc", "door", float(seed))
    print(crop.file, flush=True)
    if seed % 5 == 0:
        store.save()
"""


def test_no_crop_that_was_reported_is_lost_by_a_kill_at_any_moment(folder: Path) -> None:
    told: set[str] = set()
    for first in range(0, 3000, 1000):
        command = [sys.executable, "-c", RECORD_FOR_EVER, str(folder), str(first)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as recorder:
            assert recorder.stdout is not None
            told |= {recorder.stdout.readline().strip() for _ in range(7)}
            time.sleep(np.random.default_rng(first).uniform(0, 0.02))  # the moment, not a condition
            os.kill(recorder.pid, signal.SIGKILL)
            told |= {line.strip() for line in recorder.stdout if line.endswith(".png\n")}

    store = CropStore.open(folder)

    assert told <= names(store)
    assert not store.problems
    assert all(store.pixels(crop) is not None for crop in store.crops)
    assert not list(folder.rglob(".*"))


def test_a_limit_that_leaves_nothing_to_judge_by_is_refused(folder: Path) -> None:
    store = a_store(folder)
    with pytest.raises(ConfigError, match="--crops 1: a label needs 2 at least"):
        store.limit(crops=1, megabytes=None)
    assert len(CropStore.read(folder).crops) == 6


def test_a_whole_network_can_be_trained_on_the_crops_too(folder: Path) -> None:
    store = a_store(folder)
    model_input = Input(24, 24, "rgb", 1 / 255, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0))

    examples, _, labels = read_folders(folder / "crops", None, model_input)

    assert labels == ("bar", "disc")
    assert len(examples) == len(store.crops)
