"""What measures a network, or learns on it, first compares its device with the reference, as a worker does."""

from pathlib import Path

import pytest

from edged import config
from edged.cli import run_command_line
from edged.model.package import load_model
from edged.runtime.select import opencl_device
from edged.teach.features import Backbone
from tests.cli.models import small_network
from tests.engine.wrong_kernels import RELU_IS_MIN, WRONG_VECTOR, wrong_kernel

MEASURE = {"bench": ("--runs", "1"), "profile": ("--runs", "1")}


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small network, and a cache without proofs."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return small_network(tmp_path / "small.onnx")


@pytest.mark.deep
@pytest.mark.parametrize("verb", MEASURE)
def test_a_device_that_is_wrong_by_every_variant_is_not_measured(
    verb: str, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with wrong_kernel(RELU_IS_MIN):
        code = run_command_line([verb, "--device", "cpu", "--model", str(model), *MEASURE[verb]])

    found = capsys.readouterr()
    assert (code, found.out) == (3, "")
    assert "wrongly by every variant" in found.err


@pytest.mark.parametrize("verb", ["bench", pytest.param("profile", marks=pytest.mark.deep)])
def test_a_wrong_variant_is_named_and_another_one_measured(
    verb: str, model: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with wrong_kernel(WRONG_VECTOR):
        code = run_command_line([verb, "--device", "cpu", "--model", str(model), *MEASURE[verb]])

    assert code == 0
    assert "conv_vector for Conv 3×16×16" in caplog.text
    assert "conv_vector" not in capsys.readouterr().out


@pytest.mark.deep
def test_features_are_computed_without_a_wrong_variant(model: Path, caplog: pytest.LogCaptureFixture) -> None:
    network = load_model(config.ModelConfig(path=model))

    with wrong_kernel(WRONG_VECTOR):
        Backbone(network, opencl_device("cpu")).close()

    assert "conv_vector for Conv 3×16×16" in caplog.text
