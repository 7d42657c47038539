"""`edged compress`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edged import config
from edged.cli import run_command_line
from edged.compress.judge import Judge, unlabelled
from edged.compress.network import Network
from edged.compress.search import Search
from edged.model.from_onnx.file import read_file
from edged.model.package import load_model
from tests.cli.models import small_network
from tests.compress.networks import network, pictures
from tests.evaluation.pictures import idx_files, picture
from tests.model.onnx_files import onnxruntime_outputs


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def compressed(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> dict[str, Any]:
    """What `edged compress --json` prints."""
    assert run_command_line(["compress", *map(str, arguments), "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def refused(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """The one error that it prints."""
    assert run_command_line(["compress", *map(str, arguments)]) == 2
    return capsys.readouterr().err


@pytest.mark.parametrize("device", ["numpy", pytest.param("auto", marks=pytest.mark.deep)])
def test_a_network_becomes_smaller_within_the_limit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], device: str
) -> None:
    net, folder = network(tmp_path / "net.onnx"), pictures(tmp_path / "pictures")

    found = compressed(capsys, net, "--images", folder, "--max-loss", "10", "--device", device)

    output = tmp_path / "net-compressed"
    assert found["ratio"] == net.stat().st_size / (output / "net.onnx.zst").stat().st_size > 3
    assert 0 <= found["loss"] <= 0.1
    assert [step["name"] for step in found["steps"]] == ["float", "pruned", "shared", "coded"]
    assert found["steps"][2]["size"] == (output / "net.onnx").stat().st_size
    assert found["steps"][2]["accuracy"] == found["steps"][3]["accuracy"]
    assert [layer["name"] for layer in found["layers"]] == ["kernel", "second", "matrix"]
    assert "size.svg" in (output / "report.md").read_text()
    assert (output / "size.svg").read_text().startswith("<svg")


def test_the_result_needs_no_options_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net, folder, labels = (
        network(tmp_path / "net.onnx"),
        pictures(tmp_path / "pictures", 8),
        tmp_path / "labels.txt",
    )
    labels.write_text("ant\nbee\ncat\ndog\nelk\n")
    options = ["--preprocess", "caffe", "--std", "2,3,4", "--labels", str(labels)]

    compressed(capsys, net, "--images", folder, "--max-loss", "100", "--device", "numpy", *options)

    settings = config.ModelConfig(path=net, preprocess="caffe", std=(2, 3, 4), labels=labels)
    asked = load_model(settings)
    for name in ("net.onnx", "net.onnx.zst"):
        alone = load_model(config.ModelConfig(path=tmp_path / "net-compressed" / name))
        assert (alone.input, alone.labels, alone.prepared_by) == (asked.input, asked.labels, "file")
    assert read_file(tmp_path / "net-compressed/net.onnx").metadata["author"] == "somebody"


def test_nothing_is_lost_where_no_loss_is_allowed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net, folder = network(tmp_path / "net.onnx"), pictures(tmp_path / "pictures")

    found = compressed(capsys, net, "--images", folder, "--max-loss", "0", "--device", "numpy")

    assert found["loss"] == 0
    assert found["ratio"] > 2


def test_its_answers_are_those_of_onnxruntime(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net, folder = network(tmp_path / "net.onnx"), pictures(tmp_path / "pictures")

    found = compressed(capsys, net, "--images", folder, "--max-loss", "30", "--device", "numpy")

    frames = unlabelled(folder, load_model(config.ModelConfig(path=net)), 100).frames
    inputs = (frames / np.float32(255)).transpose(0, 3, 1, 2)
    files = net, tmp_path / "net-compressed" / "net.onnx"
    first, second = ([onnxruntime_outputs(file, one[None]).argmax() for one in inputs] for file in files)
    assert found["steps"][-1]["accuracy"] == np.mean(np.equal(first, second))


def test_labelled_pictures_judge_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    images = np.random.default_rng(0).integers(0, 256, (30, 16, 16)).astype(np.uint8)
    folder = idx_files(tmp_path / "data", images, [number % 5 for number in range(30)])

    found = compressed(
        capsys, network(tmp_path / "net.onnx"), "--data", folder, "--max-loss", "50", "--device", "numpy"
    )

    assert (found["pictures"], found["judged_by"]) == (30, "share of right first classes")
    assert found["steps"][0]["accuracy"] < 1


def test_an_interrupted_search_goes_on(tmp_path: Path) -> None:
    net, folder = network(tmp_path / "net.onnx"), pictures(tmp_path / "pictures", 10)
    model = load_model(config.ModelConfig(path=net))
    said: list[str] = []

    def search(say: Callable[[str], None]) -> tuple[list[int], int]:
        """The entries of each codebook, and how many variations were known before."""
        judge = Judge(model, config.WorkerConfig(device="numpy"), unlabelled(folder, model, 10))
        found = Search(Network(read_file(net), None), judge, 0.3, say)
        return [len(each.entries) for each in found.share(found.prune()).values()], judge.reused

    def stop_at_the_codebooks(text: str) -> None:
        said.append(text)
        if text.startswith("codebooks"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search(stop_at_the_codebooks)
    resumed, known = search(lambda _: None)

    assert known >= len(said) - 1
    assert search(lambda _: None)[0] == resumed


def test_bad_input_is_one_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net, folder = network(tmp_path / "net.onnx"), pictures(tmp_path / "pictures", 3)
    (tmp_path / "empty").mkdir()
    broken = picture(tmp_path / "broken" / "1.png")
    broken.write_bytes(broken.read_bytes()[:40])

    assert "empty: holds no pictures" in refused(capsys, net, "--images", tmp_path / "empty")
    assert "1.png" in refused(capsys, net, "--images", tmp_path / "broken")
    assert "holds the original, net.onnx" in refused(capsys, net, "--images", folder, "--output", tmp_path)
    small = small_network(tmp_path / "small.onnx", channels=1)
    assert "has no weights worth compressing" in refused(capsys, small, "--images", folder)
    assert "has random weights" in refused(capsys, "resnet18", "--images", folder)
    assert "'-1' is not a number of points from 0 to 100" in _usage(
        capsys, net, "--images", folder, "--max-loss=-1"
    )
    assert "'nan' is not a number of points" in _usage(capsys, net, "--images", folder, "--max-loss", "nan")
    assert not Path("net-compressed").exists()
    assert not Path("small-compressed").exists()


def _usage(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    assert run_command_line(["compress", *map(str, arguments)]) == 2
    return capsys.readouterr().err
