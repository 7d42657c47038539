"""`edged compress --epochs`: pruning and sharing while the network is trained."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from edged import config
from edged.cli import run_command_line
from edged.compress.codebook import share
from edged.compress.constraint import Pruned, Shared, projected
from edged.compress.retraining import Retraining, scheduled, stages
from edged.model.package import load_model
from tests.cli.models import small_network
from tests.train.commands import config_file, train
from tests.train.made_up import idx_folder

WIDE = """name: stripes
input: {width: 8, height: 8, color: gray, mean: [0.5], std: [0.25]}
layers: [{conv: 16}, norm, relu, {max_pool: 2}, flatten, {dense: 32}, relu, {dense: classes}]
"""


@pytest.fixture
def trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A network that tells stripes apart, beside its data and the file of its training."""
    monkeypatch.chdir(tmp_path)
    idx_folder(tmp_path / "data")
    config_file(tmp_path / "stripes.yaml", network=WIDE)
    assert train("stripes.yaml", "--data", "data") == 0
    return tmp_path / "stripes" / "stripes.onnx"


def compress(*more: str) -> int:
    """The exit code of a retraining for four epochs."""
    options = ["--data", "data", "--training", "stripes.yaml", "--epochs", "4", "--max-loss", "5"]
    return run_command_line(["compress", "stripes/stripes.onnx", *options, *more])


def printed(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.deep
def test_a_retrained_network_is_pruned_shared_and_still_right(
    trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()

    assert compress("--json") == 0

    found = printed(capsys)
    assert found["loss"] <= 0.05
    layer = next(layer for layer in found["layers"] if layer["weights"] == 8192)
    assert layer["zeros"] > 4000
    assert layer["entries"] <= 16
    assert found["ratio"] > 8
    small = load_model(config.ModelConfig(path=Path("stripes-compressed/stripes.onnx.zst")))
    assert small.labels == load_model(config.ModelConfig(path=trained)).labels


@pytest.mark.deep
def test_a_killed_retraining_goes_on_to_the_same_network(
    trained: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert compress("--output", "whole") == 0
    epoch_of, done = Retraining._save, []

    def save_and_die(retraining: Retraining) -> None:
        epoch_of(retraining)
        done.append(len(retraining.history))
        if len(done) == 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as fault:
        fault.setattr(Retraining, "_save", save_and_die)
        assert compress("--output", "killed") == 130
    capsys.readouterr()

    assert compress("--output", "killed") == 0

    assert "resuming after epoch 3 of 4" in capsys.readouterr().err
    files = (onnx.load(f"{folder}/stripes.onnx") for folder in ("whole", "killed"))
    whole, killed = ({each.name: numpy_helper.to_array(each) for each in one.graph.initializer} for one in files)
    assert all(np.array_equal(whole[name], killed[name]) for name in whole)


@pytest.mark.deep
def test_a_rate_that_is_too_high_is_one_error(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config_file(Path("stripes.yaml"), learning="batch: 32, optimizer: sgd, rate: 1.0e+30", network=WIDE)
    capsys.readouterr()

    assert compress() == 6

    assert "give --training with a file whose rate is lower" in capsys.readouterr().err


def test_retraining_needs_labels_and_a_device(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert run_command_line(["compress", "digits", "--images", "data", "--epochs", "2"]) == 2
    assert "--epochs needs labelled pictures" in capsys.readouterr().err
    assert run_command_line(["compress", "digits", "--data", "data", "--epochs", "2", "--device", "numpy"]) == 2
    assert "numpy cannot train" in capsys.readouterr().err


def test_projection_clears_the_moments_of_pruned_weights() -> None:
    state = {"a.weight": np.ones(4, np.float32), "moment 0 of a.weight": np.ones(4, np.float32)}

    found = projected(state, ["a.weight"], Pruned({"a.weight": np.array([True, False, True, False])}))

    assert found["a.weight"].tolist() == found["moment 0 of a.weight"].tolist() == [1, 0, 1, 0]


def test_shared_weights_move_together() -> None:
    book = share(np.array([0, 1, 1, 5], np.float32), 3)

    found = projected({"a.weight": np.array([1, 2, 4, 6], np.float32)}, ["a.weight"], Shared({"a.weight": book}))

    assert found["a.weight"].tolist() == [0, 3, 3, 6]


def test_rounds_of_pruning_have_several_epochs_where_there_are_many() -> None:
    few, many = stages(12), stages(34)

    assert few == (*(range(epoch, epoch + 1) for epoch in range(8)), range(8, 12))
    assert many[:2] == (range(2), range(2, 4))
    assert many[-2:] == (range(20, 23), range(23, 34))  # the last round has the epoch that is left


def test_the_share_of_pruned_weights_rises_fast_at_first() -> None:
    shares = [scheduled(step, 4) for step in range(5)]

    assert shares[0] == 0
    assert shares[-1] == pytest.approx(0.95)
    assert np.all(np.diff(shares, 2) < 0)


def test_only_a_softmax_is_retrained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    small_network(tmp_path / "net.onnx")
    idx_folder(tmp_path / "data")
    options = ["--data", "data", "--epochs", "2", "--scores", "independent"]

    assert run_command_line(["compress", "net.onnx", *options]) == 2

    assert "those of net are independent: sigmoid of the network's outputs" in capsys.readouterr().err
