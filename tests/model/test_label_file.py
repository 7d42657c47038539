"""Labels in the forms that other tools write: read, or refused by a message that names the place."""

import json
import re
from pathlib import Path

import pytest

from edged import config
from edged.errors import ModelError
from edged.model.label_file import read_labels
from edged.model.package import load_model
from tests.model.onnx_files import resnet

COLOURS = ("red", "green", "blue")


def written(folder: Path, text: str, name: str = "labels.txt") -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "text",
    [
        "red\ngreen\nblue\n",
        "0 red\n1 green\n2 blue\n",
        "2\tblue\n0\tred\n1\tgreen\n",
        "0: red\n1: green\n2: blue",
        "0,red\n1,green\n2,blue",
        "00 red\n01 green\n02 blue",
        '["red", "green", "blue"]',
        '{"0": "red", "1": "green", "2": "blue"}',
        '{"2": "blue",\n "1": "green",\n "0": "red"}\n',
        '{"green": 1, "blue": 2, "red": 0}',
        '{"model_type": "vit", "id2label": {"0": "red", "1": "green", "2": "blue"}, "label2id": {"red": 0}}',
        '{"label2id": {"red": "0", "green": "1", "blue": "2"}}',
        '{"tfjsVersion": "1.3", "labels": ["red", "green", "blue"]}',
        '{"0": ["n00000001", "red"], "1": ["n00000002", "green"], "2": ["n00000003", "blue"]}',
        "{0: 'red',\n 1: \"green\",\n 2: 'blue'}\n",
    ],
)
def test_a_form_that_some_tool_writes(tmp_path: Path, text: str) -> None:
    assert read_labels(written(tmp_path, text), 3) == COLOURS


@pytest.mark.parametrize(
    "labels",
    [
        ("0", "1", "2"),
        ("20 km/h", "30 km/h", "50 km/h"),
        ("3 stooges", "2 apples", "2 pears"),
        ("0 fingers", "1 finger", "2 fingers"),
        ("1 red", "2 green", "3 blue"),
        ("1 star", "2 stars", "3 stars"),
        ("0 red", "1 green", "blue"),
        ("0:00", "1:00", "2:00"),
        ("[unknown]", "cat", "dog"),
    ],
)
def test_a_label_that_only_looks_like_another_form_stays_as_it_is(tmp_path: Path, labels: tuple[str, ...]) -> None:
    assert read_labels(written(tmp_path, "\n".join(labels)), 3) == labels


def test_labels_with_indexes_may_have_a_name_twice_if_they_are_many(tmp_path: Path) -> None:
    labels = [f"bird {number}" for number in range(19)] + ["bird 7"]
    lines = [f"{index} {label}" for index, label in enumerate(labels)]

    assert read_labels(written(tmp_path, "\n".join(reversed(lines))), 20) == tuple(labels)


def test_lines_in_the_order_of_their_letters_may_be_labels_and_are_refused(tmp_path: Path) -> None:
    folders = sorted(f"{index} thing {index}" for index in range(11))
    assert folders[2] == "10 thing 10"

    with pytest.raises(ModelError, match=r"in the order of their letters, not of their numbers; .* JSON list"):
        read_labels(written(tmp_path, "\n".join(folders)), 11)


def test_labels_that_are_digits_may_have_indexes(tmp_path: Path) -> None:
    assert read_labels(written(tmp_path, "0 7\n1 0\n2 3"), 3) == ("7", "0", "3")
    assert read_labels(written(tmp_path, '{"0": "7", "1": "0", "2": "3"}'), 3) == ("7", "0", "3")
    assert read_labels(written(tmp_path, "[7, 0, 3]", "labels.json"), 3) == ("7", "0", "3")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("red\n\ngreen\nblue\n", "has 4 labels for the 3 classes of the model: line 2 is blank"),
        ("red\ngreen\nblue\nblack", "has 4 labels .*: line 4 is 'black', which the model has no class for"),
        ("0 red\n1 green\n3 blue\n4 black", "has 4 labels .*: line 3 is '3 blue', expected index 2"),
        ("red\ngreen", "has 2 labels .*: line 3 is missing; expected one label a line"),
        (
            "2 green\n1 red\n3 blue",
            "begin with 1 to 3 in another order; expected indexes from 0 to 2; .*JSON list",
        ),
        ("2 fingers\n0 fingers\n1 finger", "begin with 0 to 2 in another order; .*JSON list"),
        ('["red", "green"]', "has 2 labels for the 3 classes of the model: none for class 2"),
        ('["none", "red", "green", "blue"]', "class 0 is 'none', which the model does not have; remove it"),
        ('["red", "green", "blue", "black"]', "class 3 is 'black', which the model does not have"),
        ('{"1": "red", "2": "green", "3": "blue"}', "none for class 0; expected indexes from 0 to 2"),
        ('{"red": 0, "green": 1, "blue": 1}', "two labels for class 1: 'green' and 'blue'"),
        (
            '{"red": "#f00", "green": "#0f0"}',
            "has 'red': '#f00', of which neither is an index; expected one label",
        ),
        ('["red", null, "blue"]', "class 1: expected a label, found None"),
        ('["red", "green", "\\u001b[2J"]', r"class 2: expected a label: .*U\+001B"),
        (
            '{"0": "red",\n "1": "green"',
            r"is not JSON \(.*line 2 .*\); expected one label a line .* or JSON: a list",
        ),
        ("{}", "holds no labels; expected"),
        ("[" * 100_000, "is not JSON"),
        ("{0: " + "-" * 100_000 + "1}", "is not JSON"),
        ("{0: __import__('os')}", "is not JSON"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, text)

    with pytest.raises(ModelError, match=f"^{re.escape(str(path))}: .*{message}"):
        read_labels(path, 3)


def of_ultralytics(folder: Path, names: str, **properties: str) -> Path:
    return resnet(18, base=2, classes=3).save(folder / "yolo-cls.onnx", {"names": names, **properties})


def test_the_labels_of_a_file_of_ultralytics(tmp_path: Path) -> None:
    path = of_ultralytics(tmp_path, "{0: 'red', 1: 'green', 2: \"cat's blue\"}")

    assert load_model(config.ModelConfig(path=path)).labels == ("red", "green", "cat's blue")
    assert load_model(config.ModelConfig(path=path)).labels == ("red", "green", "cat's blue")  # from the cache


def test_other_labels_go_before_those_of_ultralytics(tmp_path: Path) -> None:
    path = of_ultralytics(tmp_path, "{0: 'a'}", **{"edged.labels": json.dumps(COLOURS)})
    assert load_model(config.ModelConfig(path=path)).labels == COLOURS

    path = of_ultralytics(tmp_path, "{0: 'a'}")
    labels = written(tmp_path, "red\ngreen\nblue")
    assert load_model(config.ModelConfig(path=path, labels=labels)).labels == COLOURS


def test_names_of_ultralytics_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    for names, message in (("{0: 'red'", "is not JSON"), ("{0: 'red'}", "has 1 label for the 3 classes")):
        path = of_ultralytics(tmp_path, names)
        with pytest.raises(
            ModelError, match=f"{path}: its metadata property names {message}.*give a file of labels"
        ):
            load_model(config.ModelConfig(path=path))


def test_the_lines_of_a_file_of_rapidai_are_its_labels(tmp_path: Path) -> None:
    path = resnet(18, base=2, classes=3).save(tmp_path / "net.onnx", {"character": "red\ngreen\nlight blue"})

    assert load_model(config.ModelConfig(path=path)).labels == ("red", "green", "light blue")


@pytest.mark.parametrize("lines", ["red\ngreen", "red\n\nblue", "red\ngreen\nbl\aue", "a\nb\nc\nd"])
def test_lines_that_cannot_be_the_labels_are_ignored(tmp_path: Path, lines: str) -> None:
    path = resnet(18, base=2, classes=3).save(tmp_path / "net.onnx", {"character": lines})

    assert not load_model(config.ModelConfig(path=path)).has_labels


def test_a_property_of_that_name_that_another_program_wrote_is_ignored(tmp_path: Path) -> None:
    path = of_ultralytics(tmp_path, "Ada and Grace")

    assert not load_model(config.ModelConfig(path=path)).has_labels
