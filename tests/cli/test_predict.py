"""`edged predict`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import onnxruntime
import pytest

from edged.cli import run_command_line
from tests.cli import models
from tests.cli.command import DEVICES, NO_OPENCL, edged, edged_here
from tests.evaluation.pictures import picture
from tests.standard_recipe import centre_of, normalised

PREPARED = ["--scale", "1/255", "--mean", "0.1,0.2,0.3", "--std", "0.4,0.5,0.6", "--color", "bgr"]


def expected(model: Path, pictures: list[Path]) -> np.ndarray:
    """What onnxruntime says, prepared as in PREPARED (OpenCV reads BGR)."""
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    rows = []
    for path in pictures:
        bgr = np.asarray(cv2.imread(str(path)), np.float32) / 255
        x = ((bgr - [0.1, 0.2, 0.3]) / [0.4, 0.5, 0.6]).astype(np.float32).transpose(2, 0, 1)[None]
        rows.append(session.run(None, {"image": x})[0][0])
    return np.array(rows)


def predict(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> list[dict[str, Any]]:
    """The objects that `edged predict --json` prints."""
    assert run_command_line(["predict", "--json", *map(str, arguments)]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize("device", DEVICES)
def test_raw_scores_equal_onnxruntimes_in_the_order_of_the_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], device: str
) -> None:
    model = models.small_network(tmp_path / "model.onnx")
    pictures = [picture(tmp_path / f"{name}.png", seed) for seed, name in enumerate("cab")]
    raw = tmp_path / "scores.npy"

    objects = predict(capsys, *pictures, "--model", model, "--device", device, "--raw", raw, *PREPARED)

    scores = np.load(raw)
    truth = expected(model, pictures)
    assert (scores.shape, scores.dtype) == ((3, models.CLASSES), np.float32)
    np.testing.assert_allclose(scores, truth, atol=1e-4 * np.ptp(truth))
    assert [each["file"] for each in objects] == list(map(str, pictures))
    assert [each["top"][0]["index"] for each in objects] == list(scores.argmax(axis=1))


@pytest.mark.parametrize("device", DEVICES)
def test_a_gray_network_sees_what_onnxruntime_is_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], device: str
) -> None:
    model = models.small_network(tmp_path / "model.onnx", channels=1)
    coloured, raw = picture(tmp_path / "coloured.png"), tmp_path / "scores.npy"
    red, green, blue = (np.asarray(cv2.imread(str(coloured)), np.float64)[..., 2 - c] for c in range(3))
    gray = np.rint(0.299 * red + 0.587 * green + 0.114 * blue).astype(np.uint8)
    assert cv2.imwrite(str(tmp_path / "gray.png"), gray)
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    truth = session.run(None, {"image": ((gray / 255 - 0.3) / 0.4).astype(np.float32)[None, None]})[0]

    pictures = [tmp_path / "gray.png", coloured]
    predict(capsys, *pictures, "--model", model, "--device", device, "--raw", raw, "--mean", "0.3", "--std", "0.4")

    scores = np.load(raw)
    np.testing.assert_allclose(scores, truth.repeat(2, axis=0), atol=2e-3 * np.ptp(truth))
    np.testing.assert_allclose(scores[0], truth[0], atol=1e-4 * np.ptp(truth))


def photo(path: Path, width: int, height: int) -> Path:
    """A file of colours that change slowly, as those of a photo do."""
    pixels = np.random.default_rng(width).integers(0, 256, (height, width, 3)).astype(np.uint8)
    assert cv2.imwrite(str(path), cv2.GaussianBlur(pixels, (0, 0), 2))
    return path


@pytest.mark.parametrize("device", DEVICES)
def test_imagenet_by_name_gives_what_onnxruntime_says_of_the_usual_preparation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], device: str
) -> None:
    model, raw = models.small_network(tmp_path / "model.onnx", size=48), tmp_path / "scores.npy"
    photos = [photo(tmp_path / "wide.png", 160, 90), photo(tmp_path / "high.png", 70, 133)]
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    inputs = [normalised(centre_of(np.asarray(cv2.imread(str(path)), np.uint8)[..., ::-1], 48)) for path in photos]
    truth = np.concatenate([session.run(None, {"image": x})[0] for x in inputs])

    objects = predict(
        capsys, *photos, "--model", model, "--device", device, "--raw", raw, "--preprocess", "imagenet"
    )

    np.testing.assert_allclose(np.load(raw), truth, atol=1e-3 * np.ptp(truth))
    assert objects[0]["model"]["preparation"].startswith(
        "imagenet: resize the shorter side to 55, crop the centre 48×48, RGB"
    )
    assert objects[0]["model"]["prepared_by"] == "config"


@pytest.mark.deep
def test_photos_get_the_first_class_that_the_usual_preparation_gives_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], shared_data: Path
) -> None:
    model, raw = shared_data / "models/resnet20_cifar10.onnx", tmp_path / "scores.npy"
    photos = sorted((shared_data / "photos").glob("*.jpg"))
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    source = session.get_inputs()[0].name
    inputs = [normalised(centre_of(np.asarray(cv2.imread(str(path)), np.uint8)[..., ::-1], 32)) for path in photos]
    truth = np.concatenate([session.run(None, {source: x})[0] for x in inputs])

    options: list[str | Path] = ["--model", model, "--size", "32", "--device", "numpy", "--raw", raw]
    predict(capsys, *photos, *options, "--preprocess", "imagenet")

    assert list(np.load(raw).argmax(axis=1)) == list(truth.argmax(axis=1))
    np.testing.assert_allclose(np.load(raw), truth, atol=0.02 * np.ptp(truth))


def test_a_preparation_that_nothing_says_is_a_warning_with_the_option_to_add(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, image = models.small_network(tmp_path / "model.onnx"), picture(tmp_path / "a.png")
    command = ["predict", str(image), "--model", str(model), "--device", "numpy"]

    run_command_line(command)
    assert "edged: warning: nothing says how pictures are prepared" in (said := capsys.readouterr().err)
    assert "add `--preprocess imagenet`; where the default is right, add `--preprocess unit`" in said

    run_command_line([*command, "--preprocess", "unit"])
    said = capsys.readouterr().err
    assert said == (
        "edged: pictures are prepared as unit: resize 16×16 (stretch), RGB, scale 1/255 (from the command line)\n"
    )


def test_top_classes_are_probabilities_with_their_labels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = models.small_network(tmp_path / "model.onnx")
    labels = tmp_path / "labels.txt"
    labels.write_text("ant\nbee\ncat\ndog\nelk\n")

    options: list[str | Path] = ["--model", model, "--labels", labels, "--top", "9", "--device", "numpy"]
    (answer,) = predict(capsys, picture(tmp_path / "a.png"), *options)

    scores = [each["score"] for each in answer["top"]]
    assert sum(scores) == pytest.approx(1)
    assert scores == sorted(scores, reverse=True)
    assert {each["label"] for each in answer["top"]} == {"ant", "bee", "cat", "dog", "elk"}
    assert answer["model"]["name"] == "model"


@pytest.mark.parametrize(
    ("dtype", "channels"), [(np.uint8, 1), (np.uint8, 4), (np.uint16, 1), (np.uint16, 3), (np.uint16, 4)]
)
def test_grey_transparent_and_16_bit_pictures_are_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], dtype: type[np.uint8] | type[np.uint16], channels: int
) -> None:
    model = models.small_network(tmp_path / "model.onnx")
    pixels = np.full((20, 30, channels), np.iinfo(dtype).max // 2, dtype)
    assert cv2.imwrite(str(tmp_path / "odd.png"), pixels)

    (answer,) = predict(capsys, tmp_path / "odd.png", "--model", model, "--device", "numpy")

    assert len(answer["top"]) == 5


def test_a_folder_stands_for_its_pictures_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = models.small_network(tmp_path / "model.onnx")
    folder = tmp_path / "photos"
    folder.mkdir()
    for name in ("b.png", "a.png"):
        picture(folder / name)
    (folder / "notes.txt").write_text("no picture")

    answers = predict(capsys, folder, "--model", model, "--device", "numpy")

    assert [Path(each["file"]).name for each in answers] == ["a.png", "b.png"]


def test_files_that_do_not_exist_are_reported_before_a_model_is_loaded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "model.onnx").write_text("no network")
    missing = [tmp_path / "a.jpg", tmp_path / "b.jpg"]

    code = run_command_line(["predict", *map(str, missing), "--model", str(tmp_path / "model.onnx"), "--json"])

    printed = capsys.readouterr()
    assert code == 2
    assert [json.loads(line)["file"] for line in printed.out.splitlines()] == list(map(str, missing))
    assert printed.err == "".join(f"edged: {path} does not exist\n" for path in missing)


def test_an_unreadable_picture_is_named_and_the_others_are_answered(tmp_path: Path) -> None:
    model = models.small_network(tmp_path / "model.onnx")
    good, raw = picture(tmp_path / "good.png"), tmp_path / "scores.npy"
    broken = tmp_path / "broken.jpg"
    broken.write_bytes(b"no picture at all")

    done = edged_here(
        "predict", broken, good, tmp_path / "absent.jpg", "--model", model, "--device", "numpy", "--raw", raw
    )

    assert done.returncode == 2
    assert f"{broken} is not a picture" in done.stderr
    assert "absent.jpg does not exist" in done.stderr
    assert str(good) in done.stdout
    scores = np.load(raw)
    assert np.isnan(scores[0]).all()
    assert np.isfinite(scores[1]).all()


@pytest.mark.parametrize("make", models.BAD)
def test_a_bad_model_is_one_clear_message(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    model = make(tmp_path / "model.onnx")

    done = edged_here("predict", picture(tmp_path / "a.png"), "--model", model)

    assert done.returncode == 2
    assert done.stdout == ""
    assert models.BAD[make] in done.stderr
    assert done.stderr.startswith("edged: ")


def test_a_model_name_that_is_unknown_is_refused(tmp_path: Path) -> None:
    done = edged_here("predict", picture(tmp_path / "a.png"), "--model", "resnet19")

    assert done.returncode == 2
    assert "resnet19" in done.stderr
    assert "resnet18" in done.stderr


def test_an_unknown_device_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    model = models.small_network(tmp_path / "model.onnx")

    done = edged_here("predict", picture(tmp_path / "a.png"), "--model", model, "--device", "Voodoo")

    assert done.returncode == 3
    assert "Voodoo" in done.stderr
    assert "available: " in done.stderr or "pocl-opencl-icd" in done.stderr


def test_without_opencl_numpy_takes_over_with_one_warning(tmp_path: Path) -> None:
    model = models.small_network(tmp_path / "model.onnx")

    done = edged("predict", picture(tmp_path / "a.png"), "--model", model, "--json", env=NO_OPENCL)

    assert done.returncode == 0
    assert json.loads(done.stdout)["model"]["device"] == "NumPy"
    assert done.stderr.count("; using NumPy instead") == 1
    assert "pocl-opencl-icd" in done.stderr


def test_numpy_needs_no_pyopencl_and_other_devices_say_that_it_does_not_load(tmp_path: Path) -> None:
    (tmp_path / "pyopencl.py").write_text("raise ImportError('libOpenCL.so.1: no such file')")
    broken = {"PYTHONPATH": str(tmp_path)}
    model = models.small_network(tmp_path / "model.onnx")
    arguments = ("predict", picture(tmp_path / "a.png"), "--model", model)

    assert edged(*arguments, "--device", "numpy", env=broken).returncode == 0
    refused = edged(*arguments, "--device", "gpu", env=broken)

    assert refused.returncode == 3
    assert "pyopencl does not load (libOpenCL.so.1: no such file)" in refused.stderr


def test_without_opencl_a_device_that_was_asked_for_is_an_error(tmp_path: Path) -> None:
    model = models.small_network(tmp_path / "model.onnx")

    options = ("--model", model, "--device", "gpu")
    done = edged("predict", picture(tmp_path / "a.png"), *options, env=NO_OPENCL)

    assert done.returncode == 3
    assert "pocl-opencl-icd" in done.stderr


def test_random_weights_are_announced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--model", "resnet18", "--size", "32", "--device", "numpy", "--json"]
    assert run_command_line(["predict", str(picture(tmp_path / "a.png")), *options]) == 0

    printed = capsys.readouterr()

    assert json.loads(printed.out)["model"]["random_weights"] is True
    assert "random weights" in printed.err


@pytest.mark.parametrize(
    ("option", "value"),
    [("--scale", "0"), ("--std", "1,0,1"), ("--size", "0"), ("--top", "0"), ("--mean", "1,2"), ("--size", "big")],
)
def test_a_wrong_option_is_named(tmp_path: Path, option: str, value: str) -> None:
    done = edged_here("predict", picture(tmp_path / "a.png"), option, value)

    assert done.returncode == 2
    assert option in done.stderr
