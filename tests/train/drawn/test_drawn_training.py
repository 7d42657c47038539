"""`edged train` on drawn scenes: the same result for the same seed, also where it was ended in between."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.train.commands import config_file, error_of, train
from tests.train.made_up import idx_file

NETWORK = """name: scenes
data: {drawn: mnist, replays: 2, processes: 1}
input: {width: 120, height: 120, color: rgb, mean: [0.5, 0.5, 0.5], std: [0.25, 0.25, 0.25]}
layers: [{average_pool: 30}, flatten, {dense: classes}]
"""
LEARNING = "batch: 4, epochs: 2, optimizer: adamw, rate: 0.003, average: 0.9, validation: 0"


@pytest.fixture(name="folder")
def folder_fixture(tmp_path: Path) -> Path:
    """A few digits as MNIST has them, and a config beside them."""
    (tmp_path / "mnist").mkdir()
    images = np.zeros((10, 28, 28), np.uint8)
    images[:, 6:22, 12:16] = 255
    for part in ("train", "t10k"):
        idx_file(tmp_path / "mnist" / f"{part}-images-idx3-ubyte", images)
        idx_file(tmp_path / "mnist" / f"{part}-labels-idx1-ubyte", np.arange(10, dtype=np.uint8))
    config_file(tmp_path / "in.yaml", LEARNING, NETWORK)
    return tmp_path


@pytest.mark.deep
def test_a_training_that_ended_after_an_epoch_goes_on_to_the_same_bits(folder: Path) -> None:
    assert train(folder / "in.yaml", "--output", folder / "whole") == 0
    first = folder / "ended" / "checkpoints" / "epoch-000001.npz"
    first.parent.mkdir(parents=True)
    shutil.copy(folder / "whole" / "checkpoints" / first.name, first)

    assert train(folder / "in.yaml", "--output", folder / "ended", "--resume") == 0

    for name in ("scenes.onnx", "metrics.json", "report.md"):
        assert (folder / "whole" / name).read_bytes() == (folder / "ended" / name).read_bytes(), name


@pytest.mark.parametrize(
    ("network", "learning", "message"),
    [
        (NETWORK.replace("120", "64"), LEARNING, "scenes are drawn as 120×120 in colour; input is 64×64, rgb"),
        (NETWORK, LEARNING.replace("validation: 0", "validation: 0.1"), "none can be held out: set validation: 0"),
    ],
)
def test_what_does_not_go_with_drawn_scenes(
    folder: Path, network: str, learning: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said = error_of(capsys, config_file(folder / "other.yaml", learning, network))

    assert message in said
