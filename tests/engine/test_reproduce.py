"""The experiments of `python -m tools.reproduce`, with little data."""

from pathlib import Path

import numpy as np
import pytest

from edged.config import ModelConfig as ModelSection
from edged.engine.device import Device
from edged.model import reference
from edged.model.graph import Conv
from edged.model.package import load_model
from tests.cli.models import small_network
from tests.compiled import compiled_by
from tests.train.made_up import idx_file, idx_folder
from tools.reproduce import fashion, gemm, resnet50
from tools.reproduce.__main__ import main
from tools.reproduce.table import duration, table


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the experiments find what other tests have compiled."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(compiled_by("networks")))


def test_the_products_are_those_of_convolutions_in_resnet_50_at_120() -> None:
    graph = load_model(ModelSection(name="resnet50", size=120)).graph
    found = {
        (len(each.weight), each.weight[0].size, *graph.shapes[each.output][1:])
        for each in graph.operators
        if isinstance(each, Conv)
    }

    assert set(gemm.PRODUCTS.values()) <= found


def test_a_product_is_computed_as_a_convolution() -> None:
    graph, x = gemm.product_graph(3, 5, 2, 4)
    [conv] = graph.operators
    assert isinstance(conv, Conv)

    found = reference.run(graph, x)

    np.testing.assert_allclose(found.reshape(3, 8), conv.weight.reshape(3, 5) @ x.reshape(5, 8), atol=1e-5)


@pytest.mark.deep
def test_the_tuner_finds_a_variant_for_a_product(network_device: Device) -> None:
    graph, _ = gemm.product_graph(4, 8, 4, 4)

    best = gemm.tune(graph, network_device, seconds=0.5)

    assert best.variant.name.startswith("conv_")


def test_contenders_are_measured_in_turn() -> None:
    order: list[str] = []

    def contender(name: str, seconds: float) -> float:
        order.append(name)
        return seconds

    medians = gemm.in_turn([lambda: contender("a", 1.0), lambda: contender("b", 2.0)], runs=2)

    assert medians == [1.0, 2.0]
    assert order == ["a", "b"] * 3  # the first time is not counted


@pytest.mark.deep
def test_the_parts_of_a_frame_are_listed_with_their_shares(tmp_path: Path, network_device: Device) -> None:
    model = load_model(ModelSection(path=small_network(tmp_path / "small.onnx")))

    text = resnet50.report(model, network_device, runs=3)

    rows = [[cell.strip() for cell in line.split("|")] for line in text.splitlines() if line.startswith("|")]
    assert [row[1] for row in rows[2:]] == [
        "convolutions",
        "other kernels",
        "gaps between kernels",
        "copies to and from the device",
        "host calls and waking up",
        "a frame, from its pixels to its scores",
    ]
    assert sum(float(row[5].rstrip("%")) for row in rows[2:-1]) == pytest.approx(100, abs=0.5)
    assert "Slowest layers of edged: `" in text


@pytest.mark.deep
def test_each_convolution_is_timed_over_all_pictures(tmp_path: Path, network_device: Device) -> None:
    pictures = np.random.default_rng(1).integers(0, 256, (60, 28, 28), np.uint8)
    idx_file(tmp_path / "t10k-images-idx3-ubyte.gz", pictures)

    text = fashion.report(tmp_path, network_device)

    assert "convolution, 60 pictures" in text
    assert "1 to 32 channels, 3×3 on 28×28" in text
    assert "32 to 64 channels, 3×3 on 14×14" in text


def test_test_pictures_are_read_packed_or_plain(tmp_path: Path) -> None:
    assert fashion.pictures_in(idx_folder(tmp_path)).shape[0] == 60


@pytest.mark.parametrize(
    ("experiment", "code", "words"),
    [("fashion", 2, "has no t10k-images-idx3-ubyte"), ("mnist", 6, "edged train mnist-dense failed")],
)
def test_missing_data_is_named(
    experiment: str, code: int, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = main([experiment, "--device", "auto", "--data", str(tmp_path), "--output", str(tmp_path / "out")])

    assert found == code
    assert words in capsys.readouterr().err


def test_an_experiment_that_needs_data_asks_for_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fashion", "--device", "auto"]) == 1
    assert "fashion needs --data FOLDER" in capsys.readouterr().err


def test_a_table_has_its_figures_to_the_right() -> None:
    text = table(("what", "time"), [("one", duration(0.01234)), ("two", duration(18.46))])

    assert text.splitlines() == ["| what | time |", "| --- | ---: |", "| one | 12.3 ms |", "| two | 18.5 s |"]
