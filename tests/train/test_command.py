"""`edged train` from data to a model that answers."""

import json
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest

from edged.cli import run_command_line
from edged.engine.device import list_devices
from edged.model import reference
from edged.model.package import Input
from edged.train.config import NETWORKS
from tests.cli.command import NO_OPENCL, edged
from tests.model.onnx_files import onnxruntime_outputs, resnet
from tests.train.commands import LEARNING, NETWORK, config_file, error_of, train
from tests.train.made_up import LABELS, idx_folder, stripes

WANTED = Input(8, 8, "gray", 1 / 255, (0.5,), (0.25,))
FILES = {
    *("confusion.png", "loss.svg", "accuracy.svg", "curve.csv", "metrics.json", "report.md", "stripes.onnx"),
    "checkpoints",
}

assert list_devices(), "these tests need an OpenCL device"


@pytest.fixture(name="data", scope="module")
def data_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return idx_folder(tmp_path_factory.mktemp("data"))


@pytest.fixture(name="trained", scope="module")
def trained_fixture(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Path:
    """The folder of a training that is done."""
    folder = tmp_path_factory.mktemp("trained")
    assert train(config_file(folder / "in.yaml"), "--data", data, "--output", folder / "out") == 0
    return folder / "out"


def metrics(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / "metrics.json").read_text())
    return found


def test_it_learns_and_leaves_a_model_and_a_report(trained: Path) -> None:
    figures = metrics(trained)

    assert {path.name for path in trained.iterdir()} - {"worst.png"} == FILES
    assert figures["judged_by"] == "test"
    assert figures["accuracy"] == pytest.approx(1, abs=0.1)
    assert len((trained / "curve.csv").read_text().splitlines()) == 1 + 8
    assert "of 60 pictures (test) right" in (trained / "report.md").read_text()
    assert cv2.imread(str(trained / "confusion.png")) is not None
    for name in ("loss.svg", "accuracy.svg"):
        assert (trained / name).read_text().count("<circle") >= 8  # a dot each epoch


def test_edged_and_onnxruntime_answer_alike(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    images, labels = stripes(12, seed=2)
    for index, image in enumerate(images):
        assert cv2.imwrite(str(tmp_path / f"{index:02}.png"), image)
    model, raw = trained / "stripes.onnx", tmp_path / "scores.npy"
    x = reference.normalised(images[..., np.newaxis], WANTED)

    for device in ("numpy", "auto"):
        assert (
            run_command_line(
                ["predict", *map(str, ["--model", model, "--device", device, "--raw", raw, tmp_path])]
            )
            == 0
        )

        np.testing.assert_allclose(np.load(raw), onnxruntime_outputs(model, x), atol=1e-4)
    assert (np.load(raw).argmax(axis=1) == labels).mean() > 0.9
    capsys.readouterr()


def test_the_same_seed_gives_the_same_file(trained: Path, tmp_path: Path, data: Path) -> None:
    path = config_file(tmp_path / "in.yaml")

    assert train(path, "--data", data, "--output", tmp_path / "same") == 0
    assert train(path, "--data", data, "--output", tmp_path / "other", "--seed", 2) == 0

    models = [
        (folder / "stripes.onnx").read_bytes() for folder in (trained, tmp_path / "same", tmp_path / "other")
    ]
    assert models[0] == models[1] != models[2]


def write_pictures(folder: Path, colour: bool = True) -> Path:
    """A sub-folder a label, 20 pictures of 16×16 each."""
    images, truth = stripes(60)
    for index, (image, label) in enumerate(zip(images, truth, strict=True)):
        path = folder / LABELS[label] / f"{index}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        large = image.repeat(2, axis=0).repeat(2, axis=1)
        assert cv2.imwrite(str(path), cv2.merge([large, large, 255 - large]) if colour else large)
    return folder


@pytest.mark.deep
def test_pictures_in_folders_are_learnt_with_the_folders_names(tmp_path: Path) -> None:
    network = NETWORK.replace("gray, mean: [0.5], std: [0.25]", "rgb")
    path = config_file(tmp_path / "in.yaml", LEARNING.replace("epochs", "validation: 0.2, epochs"), network)
    pictures = write_pictures(tmp_path / "pictures")

    assert train(path, "--data", pictures, "--output", tmp_path / "out") == 0

    assert metrics(tmp_path / "out")["labels"] == list(LABELS)
    assert metrics(tmp_path / "out")["judged_by"] == "validation"


def test_a_pretrained_network_goes_on_and_gets_a_last_layer_for_other_labels(
    trained: Path, tmp_path: Path, data: Path
) -> None:
    path = tmp_path / "in.yaml"
    path.write_text("name: further\ntrain: {batch: 32, epochs: 1, rate: 0.000001}\n")
    start: list[str | Path] = ["--from", trained / "stripes.onnx", "--output"]

    assert train(path, "--data", data, *start, tmp_path / "same") == 0
    assert (
        train(path, "--data", write_pictures(tmp_path / "pictures", colour=False), *start, tmp_path / "anew") == 0
    )

    assert metrics(tmp_path / "same")["accuracy"] == metrics(trained)["accuracy"], "it knew all that before"
    assert metrics(tmp_path / "anew")["labels"] == list(LABELS)


def test_without_test_and_held_out_pictures_it_says_that_it_judges_by_what_was_learnt(tmp_path: Path) -> None:
    data = idx_folder(tmp_path / "data")
    for part in ("images-idx3", "labels-idx1"):
        (data / f"t10k-{part}-ubyte").unlink()
    path = config_file(tmp_path / "in.yaml", LEARNING.replace("epochs: 8", "steps: 12, validation: 0"))

    assert train(path, "--data", data, "--output", tmp_path / "out") == 0

    figures = metrics(tmp_path / "out")
    assert (figures["judged_by"], figures["pictures"]) == ("training", 300)
    history = figures["history"]
    assert isinstance(history, list)
    assert [(one["step"], one["validation_loss"]) for one in history] == [(10, None), (12, None)]


def test_a_start_without_a_last_layer_to_replace_is_refused(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start = resnet(18, 32, 32, base=2, classes=4, head="conv").save(tmp_path / "conv.onnx")
    path = tmp_path / "in.yaml"
    path.write_text("name: further\n")

    said = error_of(capsys, path, "--data", write_pictures(tmp_path / "pictures"), "--from", start)

    assert "its last layer is no Dense that could be replaced" in said


@pytest.mark.deep
def test_it_stops_when_nothing_gets_better_and_keeps_the_best(tmp_path: Path, data: Path) -> None:
    path = config_file(tmp_path / "in.yaml", "batch: 32, epochs: 100, optimizer: adam, rate: 0.05, stop_after: 2")

    assert train(path, "--data", data, "--output", tmp_path / "out") == 0

    figures = metrics(tmp_path / "out")
    history = figures["history"]
    assert isinstance(history, list)
    assert len(history) < 100
    assert figures["kept_epoch"] == len(history) - 2
    best = max(history, key=lambda one: (one["validation_accuracy"], -one["validation_loss"]))
    assert best["epoch"] == figures["kept_epoch"]


def no_data(folder: Path) -> list[str | Path]:
    return []


def absent(folder: Path) -> list[str | Path]:
    return ["--data", folder / "absent"]


def a_file(folder: Path) -> list[str | Path]:
    (folder / "file").touch()
    return ["--data", folder / "file"]


def one_label(folder: Path) -> list[str | Path]:
    (folder / "one" / "cat").mkdir(parents=True)
    return ["--data", folder / "one"]


def an_empty_label(folder: Path) -> list[str | Path]:
    (write_pictures(folder / "empty") / "dog").mkdir()
    return ["--data", folder / "empty"]


def a_broken_picture(folder: Path) -> list[str | Path]:
    (write_pictures(folder / "broken") / "down" / "no.png").write_text("<html>")
    return ["--data", folder / "broken"]


def a_label_of_the_test_alone(folder: Path) -> list[str | Path]:
    write_pictures(folder / "parts" / "train")
    write_pictures(folder / "parts" / "test")
    (folder / "parts" / "test" / "cat").mkdir()
    return ["--data", folder / "parts"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (no_data, "there is no training data: give --data FOLDER, or data: in the file"),
        (absent, "absent: expected a folder with data, found nothing"),
        (a_file, "file: expected a folder with data, found a file"),
        (one_label, "one: expected a sub-folder of pictures for each of two or more labels"),
        (an_empty_label, "empty/dog: holds no pictures; expected .bmp"),
        (a_broken_picture, "broken/down/no.png is not a picture that can be read"),
        (a_label_of_the_test_alone, "test: cat is not one of the labels: across, down, slant"),
    ],
)
def test_data_that_cannot_be_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], wrong: Callable[[Path], list[str | Path]], message: str
) -> None:
    path = config_file(tmp_path / "in.yaml")

    assert message in error_of(capsys, path, "--output", tmp_path / "out", *wrong(tmp_path))


def test_a_loss_that_is_not_finite_ends_it(tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = config_file(tmp_path / "in.yaml", "batch: 32, rate: 1.0e+30")

    said = error_of(capsys, path, "--data", data, "--output", tmp_path / "out", code=6)

    assert "at step" in said
    assert "try a lower rate" in said


def test_weights_that_are_not_finite_are_never_kept(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one_step_too_far = "batch: 32, steps: 1, optimizer: adamw, rate: 3.0e+37, weight_decay: 10, validation: 0"
    path = config_file(tmp_path / "in.yaml", one_step_too_far)

    said = error_of(capsys, path, "--data", data, "--output", tmp_path / "out", code=6)

    assert "weights are no longer finite at step 1" in said
    assert not list(tmp_path.glob("out/**/*.npz"))


def test_numpy_and_a_machine_without_opencl_cannot_train(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "device numpy cannot train" in error_of(capsys, "mnist-dense", "--data", data, "--device", "numpy")
    done = edged("train", "mnist-dense", "--data", data, env=NO_OPENCL)
    assert done.returncode == 3
    assert "no OpenCL runtime" in done.stderr
    assert "the device numpy runs networks without OpenCL, slowly, but cannot train them" in done.stderr


@pytest.mark.deep
def test_a_named_network_learns_mnist(shared_data: Path, tmp_path: Path) -> None:
    text = (NETWORKS / "mnist-dense.yaml").read_text()
    path = tmp_path / "short.yaml"
    path.write_text(text.replace("steps: 1600", "steps: 150"))

    assert train(path, "--data", shared_data / "mnist", "--output", tmp_path / "out") == 0

    accuracy = metrics(tmp_path / "out")["accuracy"]
    assert isinstance(accuracy, float)
    assert accuracy >= 0.9
