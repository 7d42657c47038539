"""`edged model set-metadata`: a model's file that says by itself how it is used."""

import json
import stat
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx.external_data_helper import convert_model_to_external_data

from edged import config
from edged.cli import run_command_line
from edged.errors import ModelError
from edged.model.metadata import PREFIX
from edged.model.metadata_file import with_properties
from edged.model.package import Input, load_model
from tests.cli import models
from tests.cli.command import edged_here
from tests.model.detectors import detector_file

IMAGENET = (1 / 255, (0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
LABELS = ("ant", "bee", "cat", "dog", "elk")


def set_metadata(*arguments: str | Path) -> int:
    return run_command_line(["model", "set-metadata", *map(str, arguments)])


def without_ours(path: Path) -> bytes:
    """All of the file but the properties of edged, as protobuf writes it."""
    model = onnx.load(str(path), load_external_data=False)
    others = {entry.key: entry.value for entry in model.metadata_props if not entry.key.startswith(PREFIX)}
    del model.metadata_props[:]
    onnx.helper.set_model_props(model, others)
    return bytes(model.SerializeToString(deterministic=True))


@pytest.fixture(name="model")
def model_fixture(tmp_path: Path) -> Path:
    """A network of five classes, whose file has a property of somebody else."""
    path = models.small_network(tmp_path / "model.onnx")
    content = onnx.load(str(path))
    onnx.helper.set_model_props(content, {"author": "Ada"})
    onnx.save(content, str(path))
    return path


def test_the_files_of_hugging_face_are_written_into_the_model(model: Path, tmp_path: Path) -> None:
    preparation, labels = tmp_path / "preprocessor_config.json", tmp_path / "config.json"
    normalized = {"do_normalize": True, "image_mean": [0.1, 0.2, 0.3], "image_std": [1, 2, 3]}
    preparation.write_text(json.dumps({"size": 16, "do_rescale": True, **normalized}))
    labels.write_text(json.dumps({"id2label": dict(enumerate(LABELS))}))

    assert set_metadata(model, "--preprocess", preparation, "--labels", labels, "--std", "3,2,1") == 0

    loaded = load_model(config.ModelConfig(path=model))
    assert loaded.input == Input(16, 16, "rgb", 1 / 255, (0.1, 0.2, 0.3), (3, 2, 1), "stretch")
    assert (loaded.labels, loaded.prepared_by) == (LABELS, "file")


def test_the_file_says_what_was_written_and_needs_no_config(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = tmp_path / "labels.txt"
    labels.write_text("\n".join(LABELS))
    before = without_ours(model)

    assert set_metadata(model, "--preprocess", "imagenet", "--labels", labels, "--name", "animals") == 0

    loaded = load_model(config.ModelConfig(path=model))
    assert loaded.input == Input(16, 16, "rgb", *IMAGENET, "center-crop")
    assert (loaded.name, loaded.labels, loaded.prepared_by) == ("animals", LABELS, "file")
    assert without_ours(model) == before
    assert "animals, 5 classes; pictures are prepared as imagenet: " in capsys.readouterr().out


def test_the_layout_of_a_detectors_outputs_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = detector_file(tmp_path / "net.onnx", "boxes")

    assert set_metadata(path, "--decode", "ssd", "--task", "detect") == 0

    detector = load_model(config.ModelConfig(path=path)).detector
    assert detector
    assert (detector.decode, detector.known_by) == ("ssd", "file")
    assert "boxes are decoded as ssd, from 84×3, 84×4 (from the config)" in capsys.readouterr().out


def test_all_other_bytes_stay_where_they_are(model: Path) -> None:
    content = model.read_bytes()

    assert set_metadata(model, "--resize", "pad") == 0

    written = model.read_bytes()
    assert written.startswith(content)
    assert b"edged.resize\x12\x03pad" in written[len(content) :]


def test_another_file_is_written_and_answers_as_the_first(model: Path, tmp_path: Path) -> None:
    content, other = model.read_bytes(), tmp_path / "other.onnx"
    model.chmod(0o640)

    assert set_metadata(model, "--preprocess", "tf", "--output", other) == 0

    assert model.read_bytes() == content
    assert stat.S_IMODE(other.stat().st_mode) == 0o640
    x = np.random.default_rng(0).random((1, 3, 16, 16), np.float32)
    first, second = (
        onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]).run(None, {"image": x})[0]
        for path in (model, other)
    )
    assert np.array_equal(first, second)


def test_a_recipe_takes_the_place_of_what_the_file_said_key_by_key(model: Path) -> None:
    set_metadata(model, "--mean", "9,9,9", "--scale", "3", "--color", "bgr", "--name", "kept")

    set_metadata(model, "--preprocess", "imagenet", "--std", "1,2,3")

    loaded = load_model(config.ModelConfig(path=model))
    assert loaded.input == Input(16, 16, "rgb", IMAGENET[0], IMAGENET[1], (1, 2, 3), "center-crop")
    assert loaded.name == "kept"
    keys = [entry.key for entry in onnx.load(str(model)).metadata_props]
    assert sorted(keys) == ["author", "edged.name", "edged.preprocess", "edged.std"]


def test_a_link_stays_a_link(model: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.onnx"
    link.symlink_to(model)

    assert set_metadata(link, "--preprocess", "raw") == 0

    assert link.is_symlink()
    assert load_model(config.ModelConfig(path=model)).input.scale == 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "nothing to write: give --preprocess"),
        (["--mean", "1,2,nan"], "--mean: Input should be a finite number"),
        (["--std", "0"], "--std: Input should be greater than 0"),
        (["--std", "1"], "its input has 3 channel(s), but std has 1 number(s)"),
        (["--color", "gray"], "its input has 3 channel(s), but color is gray"),
        (["--preprocess", "imagenett"], "found 'imagenett'"),
        (["--name", ""], "--name: String should have at least 1 character"),
        (["--labels", "FOLDER/two.txt"], "two.txt: has 2 labels for the 5 classes of the model"),
        (["--labels", "FOLDER/none.txt"], "none.txt: cannot be read: No such file"),
        (["--name", "x", "--output", "FOLDER/none/x.onnx"], "none/x.onnx: cannot be written: No such file"),
    ],
)
def test_what_is_wrong_is_said_and_the_file_stays_as_it_was(
    model: Path, tmp_path: Path, options: list[str], message: str
) -> None:
    (tmp_path / "two.txt").write_text("ant\nbee\n")
    content, files = model.read_bytes(), sorted(tmp_path.iterdir())

    done = edged_here("model", "set-metadata", model, *(each.replace("FOLDER", str(tmp_path)) for each in options))

    assert done.returncode == 2
    assert message in done.stderr
    assert model.read_bytes() == content
    assert sorted(tmp_path.iterdir()) == files


def test_a_model_stays_beside_the_files_with_its_weights(model: Path, tmp_path: Path) -> None:
    content = onnx.load(str(model))
    convert_model_to_external_data(content, location="weights.bin", size_threshold=64)
    onnx.save(content, str(model))
    (tmp_path / "elsewhere").mkdir()

    done = edged_here("model", "set-metadata", model, "--name", "x", "--output", tmp_path / "elsewhere/x.onnx")
    assert done.returncode == 2
    assert f"has external weights: write the new file to {tmp_path}" in done.stderr

    assert set_metadata(model, "--name", "x", "--output", tmp_path / "x.onnx") == 0
    assert load_model(config.ModelConfig(path=tmp_path / "x.onnx")).name == "x"


def test_a_file_that_is_cut_short_is_refused(model: Path) -> None:
    content = model.read_bytes()
    begun = b"\x3a\xff\xff\x03"  # a graph of 65,535 bytes

    for damaged in (content + begun, content + begun[:2], content + b"\x0b"):
        with pytest.raises(ModelError, match=r"is cut short|is damaged"):
            b"".join(with_properties(damaged, {"edged.name": "x"}, frozenset()))
