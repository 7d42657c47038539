"""A model by name or path, with what its file and the config say."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from edged import config
from edged.errors import ModelError
from edged.messages import ModelInfo
from edged.model import reference
from edged.model.metadata import Metadata, decode, encode
from edged.model.package import Input, load_model
from tests.eventually import LIMIT_S
from tests.model.onnx_files import Network, relative_error, resnet

LABELS = ("cat", "dog", "bird", "fish")
METADATA = Metadata(
    name="animals", labels=LABELS, color="bgr", scale=0.5, mean=(1.0, 2.0, 3.0), std=(0.1, 0.2, 0.3)
)


@pytest.fixture(name="animals")
def animals_fixture(tmp_path: Path) -> Path:
    """A network of four classes that says all of itself."""
    return resnet(18, 48, 32, base=2, classes=4).save(tmp_path / "file.onnx", encode(METADATA))


@pytest.fixture(name="bare")
def bare_fixture(tmp_path: Path) -> Path:
    """The same, open in its size, that says nothing."""
    return resnet(18, "W", "H", base=2, classes=4).save(tmp_path / "bare.onnx")


def test_a_file_that_says_all(animals: Path) -> None:
    model = load_model(config.ModelConfig(path=animals))

    assert model.name == "animals"
    assert model.labels == LABELS
    assert model.input == Input(48, 32, "bgr", 0.5, (1.0, 2.0, 3.0), (0.1, 0.2, 0.3))
    assert len(model.sha256) == 64
    assert not model.random_weights


def test_a_file_that_says_nothing(bare: Path) -> None:
    model = load_model(config.ModelConfig(path=bare, size=40))

    assert model.name == "bare"
    assert model.labels == ("0", "1", "2", "3")
    assert model.input == Input(40, 40, "rgb", 1 / 255, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0))


def test_the_config_goes_first(animals: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.txt"
    labels.write_text("a\nb\nc\nd\n")
    settings = config.ModelConfig(
        path=animals, labels=labels, color="rgb", scale=2, mean=(0, 0, 0), std=(1, 1, 1), size=(48, 32)
    )

    model = load_model(settings)

    assert model.labels == ("a", "b", "c", "d")
    assert model.input == Input(48, 32, "rgb", 2.0, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0))


def test_an_open_size_must_be_given(bare: Path) -> None:
    with pytest.raises(ModelError, match="leaves the input size open: give it as size"):
        load_model(config.ModelConfig(path=bare))


def test_random_weights_say_that_they_are() -> None:
    model = load_model(config.ModelConfig(name="resnet18", size=(64, 32)))

    assert model.random_weights
    assert model.name == "resnet18"
    assert len(model.labels) == 1000
    assert (model.input.width, model.input.height) == (64, 32)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            config.ModelConfig(name="resnet42"),
            "there is no model resnet42: name one of digits, resnet18, .*regnet_y_400mf, or",
        ),
        (config.ModelConfig(), "no model is given: name one of digits"),
        (
            config.ModelConfig(name="own.onnx"),
            "there is no model own.onnx: give a file by path: own.onnx, without name",
        ),
        (
            config.ModelConfig(name="resnet18", size=31),
            "resnet18: size 31×31 is too small: at least 32 pixels a side",
        ),
    ],
)
def test_models_that_there_are_not(settings: config.ModelConfig, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        load_model(settings)


def of_channels(path: Path, channels: int, metadata: Metadata | None = None) -> Path:
    network = Network(["N", channels, 28, 28])
    network.add("GlobalAveragePool")
    return network.save(path, encode(metadata or Metadata()))


def test_a_network_of_one_channel_is_gray(tmp_path: Path) -> None:
    path = of_channels(tmp_path / "gray.onnx", 1)

    assert load_model(config.ModelConfig(path=path)).input == Input(28, 28, "gray", 1 / 255, (0.0,), (1.0,))
    said = config.ModelConfig(path=path, color="gray", mean=(0.5,), std=(0.25,))
    assert load_model(said).input == Input(28, 28, "gray", 1 / 255, (0.5,), (0.25,))


@pytest.mark.parametrize(
    ("channels", "settings", "message"),
    [
        (2, {}, "its input has 2 channels; supported are 3, red, green and blue, and 1, gray"),
        (1, {"color": "rgb"}, "has 1 channel.*, but color is rgb: leave color out"),
        (3, {"color": "gray"}, "has 3 channel.*, but color is gray: leave color out"),
        (1, {"mean": (0.1, 0.2, 0.3)}, "has 1 channel.*, but mean has 3 number"),
        (3, {"std": (0.1,)}, "has 3 channel.*, but std has 1 number"),
    ],
)
def test_what_does_not_fit_the_channels_is_refused(
    tmp_path: Path, channels: int, settings: dict[str, Any], message: str
) -> None:
    path = of_channels(tmp_path / "model.onnx", channels)

    with pytest.raises(ModelError, match=f"model.onnx: .*{message}"):
        load_model(config.ModelConfig(path=path, **settings))


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (3, "has 3 labels for the 4 classes of the model: line 4 is missing"),
        (0, "has 0 labels for the 4 classes of the model: line 1 is missing"),
    ],
)
def test_labels_must_be_as_many_as_classes(bare: Path, tmp_path: Path, lines: int, message: str) -> None:
    labels = tmp_path / "labels.txt"
    labels.write_text("label\n" * lines)

    with pytest.raises(ModelError, match=f"labels.txt: {message}"):
        load_model(config.ModelConfig(path=bare, size=32, labels=labels))


def test_a_label_for_the_background_too_many(bare: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.txt"
    labels.write_text("background\na\nb\nc\nd\n")

    with pytest.raises(
        ModelError, match=r"has 5 labels for the 4 classes .*: line 1 is 'background'.*remove that line"
    ):
        load_model(config.ModelConfig(path=bare, size=32, labels=labels))


def test_labels_that_are_no_text(bare: Path, tmp_path: Path) -> None:
    picture = tmp_path / "labels.txt"
    picture.write_bytes(b"\x89PNG\xff\xfe")
    for path, message in ((picture, "is not UTF-8 text"), (tmp_path / "absent", "cannot be read: No such file")):
        with pytest.raises(ModelError, match=message):
            load_model(config.ModelConfig(path=bare, size=32, labels=path))


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("\x1b[2Jcat", r"it holds the control character U\+001B: remove it"),
        ("c\x00at", r"U\+0000"),
        ("c\x85at", r"U\+0085"),
        ("c\u2028at", r"U\+2028"),
        ("\u202etac", r"U\+202E"),
        ("c" * 257, "it has 257 characters; up to 256 are supported"),
    ],
)
def test_a_label_that_would_steer_a_terminal_or_has_no_end_is_refused_wherever_it_is_from(
    bare: Path, tmp_path: Path, label: str, message: str
) -> None:
    labels = tmp_path / "labels.txt"
    labels.write_text(f"ant\nbee\n{label}\ndog\n")

    with pytest.raises(ModelError, match=rf"labels.txt:3: expected a label: .*{message}"):
        load_model(config.ModelConfig(path=bare, size=32, labels=labels))
    for properties in ({"edged.labels": json.dumps(["ant", label])}, {"edged.name": label}):
        with pytest.raises(ModelError, match=f"metadata: edged.*{message}|at most 100 characters"):
            decode(properties)


def test_half_a_character_in_metadata_is_refused() -> None:
    with pytest.raises(ModelError, match=r"edged.labels.0: .*(U\+D83D|unicode)"):
        decode({"edged.labels": r'["\ud83d"]'})


def test_a_label_may_have_any_letters_and_blanks(bare: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.txt"
    labels.write_bytes("n01440764\ttench\r\nZürich\rネコ 🐈\nno\u00a0break \n".encode())

    model = load_model(config.ModelConfig(path=bare, size=32, labels=labels))

    assert model.labels == ("n01440764 tench", "Zürich", "ネコ 🐈", "no\u00a0break")


def test_a_pipe_a_device_or_a_folder_as_labels_or_model_is_refused_at_once(bare: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    refused: list[str] = []

    def load_all() -> None:
        for path in (tmp_path / "pipe", Path("/dev/zero"), tmp_path):
            for settings in (config.ModelConfig(path=bare, size=32, labels=path), config.ModelConfig(path=path)):
                with pytest.raises(ModelError) as error:
                    load_model(settings)
                refused.append(str(error.value))

    thread = threading.Thread(target=load_all, daemon=True)
    thread.start()
    thread.join(LIMIT_S)
    assert not thread.is_alive()
    assert [text.partition(": ")[2].partition(";")[0] for text in refused] == [
        "cannot be read: it is a named pipe, expected a file",
        "is not a file",
        "cannot be read: it is a device, expected a file",
        "is not a file",
        "cannot be read: it is a folder, expected a file",
        "is not a file",
    ]


def test_a_file_whose_name_is_no_text_gives_a_name_that_can_be_sent(animals: Path, tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"\xff\x1b[2J.onnx")
    content = onnx.load(str(animals))
    del content.metadata_props[:]
    path.write_bytes(content.SerializeToString())

    name = load_model(config.ModelConfig(path=path)).name

    assert name == "??[2J"
    assert json.loads(msgspec.json.encode(ModelInfo(name=name, sha256="", labels=(), width=1, height=1)))


def test_metadata_survive_the_file() -> None:
    properties = encode(METADATA)

    assert properties["edged.name"] == "animals"
    assert json.loads(properties["edged.labels"]) == list(LABELS)
    assert decode(properties | {"author": "somebody"}) == METADATA
    assert decode({}) == Metadata()


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("edged.mean", "[1, 2]", "edged.mean: .*expected three numbers, or one"),
        ("edged.mean", "zero", "edged.mean: expected JSON"),
        ("edged.std", "[1, 0, 1]", "edged.std.1: Input should be greater than 0"),
        ("edged.scale", "NaN", "edged.scale"),
        ("edged.color", "gray", "its input has 3 channel.*, but color is gray"),
        ("edged.color", "grey", "edged.color: Input should be 'rgb', 'bgr' or 'gray'"),
        ("edged.labels", '"cat"', "edged.labels"),
        ("edged.labels", '["cat"]', "its metadata has 1 label for 4 classes"),
    ],
)
def test_metadata_that_make_no_sense(tmp_path: Path, key: str, value: str, message: str) -> None:
    path = resnet(18, base=2, classes=4).save(tmp_path / "file.onnx", {key: value})

    with pytest.raises(ModelError, match=f"file.onnx: .*{message}"):
        load_model(config.ModelConfig(path=path))


def test_onnx_is_imported_for_a_file_only() -> None:
    program = (
        "import sys; from edged.config import ModelConfig; from edged.model.package import load_model; "
        "load_model(ModelConfig(name='resnet18', size=32)); assert 'onnx' not in sys.modules"
    )

    subprocess.run([sys.executable, "-c", program], check=True)


def test_half_precision_weights_are_computed_in_single(tmp_path: Path) -> None:
    network = resnet(18, 40, 40, base=4, classes=4)
    x = np.random.default_rng(0).standard_normal((1, 3, 40, 40)).astype(np.float32)
    single = reference.run(load_model(config.ModelConfig(path=network.save(tmp_path / "single.onnx"))).graph, x)

    for tensor in network.weights:
        values = numpy_helper.to_array(tensor)
        if values.dtype == np.float32:
            tensor.CopyFrom(numpy_helper.from_array(values.astype(np.float16), tensor.name))
    half = reference.run(load_model(config.ModelConfig(path=network.save(tmp_path / "half.onnx"))).graph, x)

    assert half.dtype == np.float32
    assert 0 < relative_error(half, single) < 0.01


def test_weights_that_grow_beyond_float32_when_they_are_folded(tmp_path: Path) -> None:
    network = Network(["N", 3, 8, 8])
    network.add("Conv", network.normal(4, 3, 1, 1, std=1e20))
    network.add("Mul", network.weight(np.array(1e30, np.float32)))
    network.add("GlobalAveragePool")
    path = network.save(tmp_path / "large.onnx")

    with pytest.raises(ModelError, match=f"{path}: node mul_1: its factors make weights before it larger"):
        load_model(config.ModelConfig(path=path))
