"""IDX files, good and bad."""

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from edged.errors import DataError
from edged.model.package import Input
from edged.train.idx import has_idx, read_idx
from tests.train.made_up import idx_file, idx_folder, stripes

WANTED = Input(8, 8, "gray", 1 / 255, (0.0,), (1.0,))
IMAGES, LABELS = "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"


@pytest.fixture(name="folder")
def folder_fixture(tmp_path: Path) -> Path:
    return idx_folder(tmp_path / "data")


def test_plain_and_packed_files_are_read(folder: Path) -> None:
    training, test, labels = read_idx(folder, None, WANTED)
    images, truth = stripes(300, seed=1)

    assert has_idx(folder)
    assert np.array_equal(training.images[..., 0], images)
    assert np.array_equal(training.labels, truth)
    assert test is not None
    assert (len(test), labels) == (60, ("0", "1", "2"))


def test_labels_may_have_names_and_a_test_may_be_missing(folder: Path) -> None:
    (folder / "t10k-images-idx3-ubyte").unlink()

    _, test, labels = read_idx(folder, ("a", "b", "c"), WANTED)

    assert (test, labels) == (None, ("a", "b", "c"))


def cut_short(folder: Path) -> None:
    path = folder / IMAGES
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes())[:-1]))


def half_a_gz(folder: Path) -> None:
    path = folder / IMAGES
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def no_gz(folder: Path) -> None:
    (folder / IMAGES).write_text("<html>404</html>")


def labels_as_images(folder: Path) -> None:
    (folder / IMAGES).write_bytes((folder / LABELS).read_bytes())


def end_in_the_header(folder: Path) -> None:
    (folder / IMAGES).write_bytes(gzip.compress(b"\0\0\x08\x03\0\0"))


def absurd_lengths(folder: Path) -> None:
    (folder / IMAGES).write_bytes(gzip.compress(b"\0\0\x08\x03" + b"\xff" * 12))


def something_behind(folder: Path) -> None:
    path = folder / IMAGES
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()) + b"\0"))


def fewer_labels(folder: Path) -> None:
    idx_file(folder / LABELS, np.zeros(299, np.uint8))


def a_label_beyond(folder: Path) -> None:
    idx_file(folder / "t10k-labels-idx1-ubyte", np.array([0, 1, 3] * 20, np.uint8))


def a_label_alone(folder: Path) -> None:
    idx_file(folder / LABELS, np.array([0, 1, 200] * 100, np.uint8))


def no_pictures(folder: Path) -> None:
    idx_file(folder / IMAGES, np.zeros((0, 8, 8), np.uint8))
    idx_file(folder / LABELS, np.zeros(0, np.uint8))


def other_size(folder: Path) -> None:
    idx_file(folder / IMAGES, np.zeros((300, 9, 8), np.uint8))


def nothing(folder: Path) -> None:
    (folder / IMAGES).unlink()


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (cut_short, f"{IMAGES}: claims to hold 300 × 8 × 8 = 19200 values, but 19199 bytes follow: it is cut"),
        (half_a_gz, f"{IMAGES}: is no .gz file, or damaged or cut short"),
        (no_gz, f"{IMAGES}: is no .gz file, or damaged or cut short"),
        (labels_as_images, f"{IMAGES}: begins with the bytes 00 00 08 01; .* 3 axes begins with 00 00 08 03"),
        (end_in_the_header, f"{IMAGES}: is cut short: it ends within its header of 16 bytes"),
        (absurd_lengths, f"{IMAGES}: claims to hold 4294967295 × .* values; at most"),
        (something_behind, f"{IMAGES}: claims to hold .*, but more follows"),
        (fewer_labels, f"{LABELS}: has 299 labels for the 300 pictures of {IMAGES}"),
        (a_label_beyond, r"t10k-labels-idx1-ubyte: label 2 \(byte 10\) is 3, but there are 3 labels, from 0 to 2"),
        (a_label_alone, f"{LABELS}: there are labels up to 200 but none is 2: is it damaged"),
        (no_pictures, f"{IMAGES}: holds no pictures"),
        (other_size, f"{IMAGES}: its pictures are gray, 8×9; the network wants gray, 8×8"),
        (nothing, "has no train-images-idx3-ubyte, plain or as .gz"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_a_bad_file_is_named_with_what_is_wrong(folder: Path, harm: Callable[[Path], None], message: str) -> None:
    harm(folder)

    with pytest.raises(DataError, match=message):
        read_idx(folder, None, WANTED)
