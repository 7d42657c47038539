"""Graphs kept for the next start."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from edged import config
from edged.model.package import Model, load_model
from tests.model.graphs import assert_equal
from tests.model.onnx_files import resnet

Load = Callable[[], Model]


@pytest.fixture(name="cache")
def cache_fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of kept graphs, empty."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("CACHE_DIRECTORY", raising=False)
    return tmp_path / "edged" / "graphs"


@pytest.fixture(name="network")
def network_fixture(tmp_path: Path) -> Path:
    """An ONNX file that leaves its input size open."""
    return resnet(18, "W", "H", base=2, classes=4).save(tmp_path / "network.onnx", {"edged.color": "bgr"})


def test_a_second_start_gets_the_same_model(cache: Path, network: Path) -> None:
    settings = config.ModelConfig(path=network, size=(48, 32))
    first = load_model(settings)

    second = load_model(settings)

    assert first.graph.operators[0].weight.flags.writeable  # type: ignore[attr-defined]
    assert not second.graph.operators[0].weight.flags.writeable  # type: ignore[attr-defined] # (mapped)
    assert (second.name, second.sha256, second.labels, second.input) == (
        *(first.name, first.sha256, first.labels),
        first.input,
    )
    assert_equal(second.graph, first.graph)


def test_another_size_or_file_is_another_graph(cache: Path, network: Path) -> None:
    sizes = {load_model(config.ModelConfig(path=network, size=size)).input.width for size in (32, 64, 32)}
    network.write_bytes(resnet(34, 96, 96, base=2, classes=5).save(network.with_stem("other")).read_bytes())

    assert sizes == {32, 64}
    assert load_model(config.ModelConfig(path=network)).input.width == 96


@pytest.mark.parametrize("lazily", [False, True])
def test_damaged_weights_are_read_from_the_model_again(
    cache: Path, network: Path, lazily: bool, caplog: pytest.LogCaptureFixture
) -> None:
    settings = config.ModelConfig(path=network, size=32)
    expected = load_model(settings).graph
    (weights,) = cache.glob("*.weights")
    whole = weights.read_bytes()
    weights.write_bytes(whole[:-70] + bytes(70))

    found = load_model(settings, lazily=lazily).graph.checked()

    assert_equal(found, expected)
    assert "is damaged" in caplog.text
    assert weights.read_bytes() == whole


@pytest.mark.parametrize("suffix", ["graph", "weights"])
@pytest.mark.parametrize("length", [0, 100, 5000])
def test_a_cut_entry_is_made_again(cache: Path, network: Path, suffix: str, length: int) -> None:
    settings = config.ModelConfig(path=network, size=32)
    expected = load_model(settings).graph
    (entry,) = cache.glob(f"*.{suffix}")
    entry.write_bytes(entry.read_bytes()[:length])

    assert_equal(load_model(settings).graph, expected)


def test_a_cache_that_cannot_be_written_is_logged(
    cache: Path, network: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cache.parent.mkdir()
    cache.write_text("")

    load_model(config.ModelConfig(path=network, size=32))

    assert [record.message[:27] for record in caplog.records] == ["the network cannot be kept,"]


def test_a_warm_start_imports_no_onnx(cache: Path, network: Path) -> None:
    program = (
        "import json, sys; from edged.config import ModelConfig; from edged.model.package import load_model; "
        f"load_model(ModelConfig(path={str(network)!r}, size=32)); print(json.dumps('onnx' in sys.modules))"
    )

    def start() -> object:
        run = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
        return json.loads(run.stdout)

    assert [start(), start()] == [True, False]
