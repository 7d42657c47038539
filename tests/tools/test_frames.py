"""The frames that the model digits is trained on and measured with."""

import struct
from pathlib import Path

import numpy as np
import pytest

from tools.frames import NOTHING, draw_frame, draw_training_frame, empty_frames
from tools.handwriting import plain_mask, read_mnist, varied_mask

SEVEN = np.zeros((28, 28), np.uint8)
SEVEN[5:8, 8:20] = 255
for row in range(8, 24):
    SEVEN[row, 24 - row // 2 - 8 : 27 - row // 2 - 8] = 255


def test_idx_files_are_read(tmp_path: Path) -> None:
    images = np.arange(2 * 28 * 28, dtype=np.uint8).reshape(2, 28, 28)
    (tmp_path / "t10k-images-idx3-ubyte").write_bytes(
        struct.pack(">4B3I", 0, 0, 8, 3, 2, 28, 28) + images.tobytes()
    )
    (tmp_path / "t10k-labels-idx1-ubyte").write_bytes(struct.pack(">4BI", 0, 0, 8, 1, 2) + b"\x07\x03")
    read, labels = read_mnist(tmp_path, "t10k")
    assert np.array_equal(read, images)
    assert labels.tolist() == [7, 3]


def test_a_file_that_is_not_idx_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "train-images-idx3-ubyte").write_text("<html>")
    with pytest.raises(SystemExit, match="train-images-idx3-ubyte: not an IDX file"):
        read_mnist(tmp_path, "train")


def test_a_plain_digit_is_cut_to_its_ink() -> None:
    mask = plain_mask(SEVEN)
    assert 70 <= mask.shape[0] <= 84
    assert mask.max() == 255


def test_varied_writing_differs_each_time_and_keeps_ink() -> None:
    rng = np.random.default_rng(1)
    masks = [varied_mask(rng, SEVEN, 7) for _ in range(50)]
    assert len({mask.tobytes() for mask in masks}) > 25
    assert all(0.04 < (mask > 128).mean() < 0.9 for mask in masks)


def test_frames_have_the_shape_of_the_networks_input_and_repeat() -> None:
    one, two = (draw_training_frame(np.random.default_rng(2), SEVEN, 7) for _ in range(2))
    assert one.shape == (120, 120, 3)
    assert np.array_equal(one, two)
    assert draw_frame(np.random.default_rng(2), None).dtype == np.uint8


def test_empty_frames_are_labelled_so() -> None:
    frames, labels = empty_frames(5)
    assert frames.shape == (5, 120, 120, 3)
    assert (labels == NOTHING).all()
