"""`edged.Model`: a Python program gets the scores that the daemon and `edged predict` give."""

import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import edged
from edged.cli import run_command_line
from edged.errors import ConfigError, EdgedError, ImageError, ModelError
from edged.pictures.decode import read_picture
from tests.cli import models
from tests.evaluation.pictures import picture
from tests.model.score_tails import SIDE, logits, network_with


@pytest.fixture
def network(tmp_path: Path) -> Path:
    return models.small_network(tmp_path / "model.onnx")


@pytest.fixture
def photos(tmp_path: Path) -> list[Path]:
    names = [tmp_path / f"{seed}.png" for seed in range(5)]
    for seed, name in enumerate(names):
        picture(name, seed)
    return names


@pytest.fixture
def model(network: Path) -> Iterator[edged.Model]:
    with edged.Model(network, batch=2, preprocess="unit") as opened:
        yield opened


def test_a_picture_gets_one_score_a_class(model: edged.Model, photos: list[Path]) -> None:
    scores = model(read_picture(photos[0]))
    assert scores.shape == (len(model.labels),)
    assert scores.sum() == pytest.approx(1)
    best, second = model.top(scores, 2)
    assert best.label == model.labels[best.index]
    assert best.score == pytest.approx(scores.max())
    assert best.score >= second.score


def test_several_pictures_get_the_same_scores_as_one_by_one(model: edged.Model, photos: list[Path]) -> None:
    several = model([str(photos[0]), photos[1], *map(read_picture, photos[2:])])
    assert np.array_equal(several, np.stack([model(name) for name in photos]))
    width, height = model.input_size
    frames = np.random.default_rng(0).integers(0, 256, (3, height, width, 3), np.uint8)
    assert np.array_equal(model(frames), np.stack([model(frame) for frame in frames]))
    assert model([]).shape == (0, len(model.labels))


def test_the_scores_are_those_of_edged_predict(
    model: edged.Model, network: Path, photos: list[Path], tmp_path: Path
) -> None:
    raw = tmp_path / "raw.npy"
    given = ["--model", str(network), "--preprocess", "unit", "--raw", str(raw)]
    assert run_command_line(["predict", *map(str, photos), *given]) == 0
    outputs = model.outputs(photos)
    assert np.array_equal(outputs, np.load(raw))
    assert np.allclose(model(photos), np.exp(outputs) / np.exp(outputs).sum(1, keepdims=True), atol=1e-6)


def test_a_gray_picture_has_equal_channels(model: edged.Model) -> None:
    gray = np.random.default_rng(0).integers(0, 256, (30, 40), np.uint8)
    assert np.array_equal(model(gray), model(np.stack([gray] * 3, axis=2)))


def test_scores_and_outputs_take_the_same_arrays_for_one_picture(model: edged.Model, photos: list[Path]) -> None:
    pixels = read_picture(photos[0])
    classes = len(model.labels)

    for one in (pixels, pixels[..., 0], pixels[..., :1], photos[0], str(photos[0])):
        assert model.outputs(one).shape == model(one).shape == (classes,)
        assert np.array_equal(model.outputs([one]), [model.outputs(one)])
        assert np.array_equal(model([one]), [model(one)])
    for several in (pixels[np.newaxis], pixels[np.newaxis, ..., :1], [pixels], [pixels[..., 0]]):
        assert model.outputs(several).shape == model(several).shape == (1, classes)
    assert model.outputs([]).shape == (0, classes)


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        (np.zeros((8, 8, 3), np.float32), "$"),
        (np.zeros((0, 8, 3), np.uint8), ""),
        (np.zeros(8, np.uint8), "$"),
        (np.zeros((3, 8, 8), np.uint8), r"; transpose\(1, 2, 0\) moves the channels to the end"),
        (np.zeros((5, 3, 8, 8), np.uint8), r"; transpose\(1, 2, 0\) moves the channels to the end"),
        (np.zeros((5, 8, 8), np.uint8), r"; several gray pictures are a list, or \[n, height, width, 1\]"),
    ],
    ids=["floats", "empty", "one axis", "channels first", "several, channels first", "several gray ones"],
)
def test_what_is_no_picture_is_refused(model: edged.Model, wrong: np.ndarray, hint: str) -> None:
    for ask in (model, model.outputs):
        with pytest.raises(ImageError, match=rf"expected uint8 \[height, width, 3\] in RGB order.*{hint}"):
            ask(wrong)


class Pixels:
    """What NumPy reads as an array."""

    def __init__(self, values: np.ndarray) -> None:
        self._values = values

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        return self._values


class Photo:
    """A picture of PIL, as far as NumPy is concerned."""

    def __init__(self, values: np.ndarray) -> None:
        self.__array_interface__ = values.__array_interface__


class Palette(Pixels):
    """A picture with a palette, as PIL has it: its array holds numbers of colours."""

    mode = "P"

    def convert(self, mode: str) -> Pixels:
        assert mode == "RGB"
        return Pixels(np.stack([np.asarray(self)] * 3, axis=2) + np.arange(3, dtype=np.uint8))


class OnAnotherDevice(Pixels):
    """A tensor that its library does not copy by itself."""

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        raise TypeError("use cpu() first")


def test_what_numpy_reads_as_an_array_is_taken(model: edged.Model, photos: list[Path]) -> None:
    pixels = read_picture(photos[0])
    expected = model(pixels)

    assert np.array_equal(model(Pixels(pixels)), expected)
    assert np.array_equal(model(Photo(pixels)), expected)
    assert np.array_equal(model([Pixels(pixels), Photo(pixels)]), [expected, expected])
    assert np.array_equal(model(Pixels(pixels[np.newaxis])), [expected])


def test_a_picture_with_a_palette_is_taken_by_its_colours(model: edged.Model) -> None:
    numbers = np.random.default_rng(0).integers(0, 200, (30, 40), np.uint8)

    assert np.array_equal(model(Palette(numbers)), model(np.asarray(Palette(numbers).convert("RGB"))))


def test_a_tensor_that_cannot_be_read_is_an_error_with_its_reason(model: edged.Model) -> None:
    with pytest.raises(ImageError, match="of type OnAnotherDevice cannot be read: use cpu"):
        model(OnAnotherDevice(np.zeros(1)))


def test_a_model_is_shown_by_its_name_its_input_and_its_device(model: edged.Model) -> None:
    assert repr(model) == f"<edged.Model model: 16×16, 5 labels, on {model.device}>"


def test_an_error_shows_the_line_of_the_caller_and_none_inside_edged(model: edged.Model, tmp_path: Path) -> None:
    wrong: list[Callable[[], object]] = [
        lambda: edged.Model("no-such-model"),
        lambda: edged.Model(tmp_path / "no.onnx"),
        lambda: model("nowhere.png"),
        lambda: model.outputs([3]),  # type: ignore[list-item]
    ]
    for ask in wrong:
        with pytest.raises(EdgedError) as raised:
            ask()
        names = [entry.name for entry in raised.traceback]
        assert names[-2:] == ["<lambda>", "shortened"]
        assert raised.value.__suppress_context__


def test_numbers_in_lists_are_no_picture(model: edged.Model) -> None:
    with pytest.raises(ImageError, match=r"a picture is of type list: expected a NumPy array \(numpy.asarray"):
        model([[[0, 0, 0]]])  # type: ignore[list-item]


def test_a_picture_that_cannot_be_read_is_named(model: edged.Model) -> None:
    with pytest.raises(ImageError, match=r"nowhere\.png does not exist"):
        model("nowhere.png")


def test_scores_that_are_not_finite_are_an_error(model: edged.Model) -> None:
    with pytest.raises(ModelError, match="1 of the network's 2 outputs are NaN or infinite"):
        model.scores(np.array([0, np.nan], np.float32))


def test_pictures_are_prepared_as_a_file_of_hugging_face_says(network: Path, tmp_path: Path) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (20, 30, 3), np.uint8)
    described = tmp_path / "preprocessor_config.json"
    described.write_text('{"do_normalize": true, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}')

    with edged.Model(network, "numpy", preprocess=described) as of_file:
        found = of_file(pixels)
    with edged.Model(network, "numpy", scale=1 / 255, mean=(0.5,) * 3, std=(0.5,) * 3) as of_values:
        np.testing.assert_array_equal(found, of_values(pixels))


def test_a_default_preparation_is_a_warning_that_names_the_argument(network: Path) -> None:
    with pytest.warns(UserWarning, match="add `preprocess='imagenet'`") as warned:
        edged.Model(network, device="numpy")
    assert [each.filename for each in warned] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        edged.Model("digits", device="numpy")


def test_an_unknown_argument_is_named(network: Path) -> None:
    with pytest.raises(ConfigError, match="colour: Extra inputs are not permitted"):
        edged.Model(network, colour="rgb")
    with pytest.raises(ConfigError, match="batch: Input should be greater than or equal to 1"):
        edged.Model(network, batch=0)


def test_importing_edged_loads_none_of_it() -> None:
    script = "import sys, edged; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"numpy", "cv2", "pydantic", "edged.inference"} & set(run.stdout.split())


def test_a_guess_of_what_scores_are_is_a_warning(tmp_path: Path) -> None:
    path = network_with(tmp_path / "net.onnx", ("Tanh", ["l"], "y"), metadata={"edged.preprocess": "raw"})

    with pytest.warns(UserWarning, match=r"scores are probabilities: softmax .* \(as its answers to noise look\)"):
        edged.Model(path, device="numpy").close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        edged.Model(path, device="numpy", scores="logits").close()


def test_one_sigmoid_has_one_score_and_two_labels(tmp_path: Path) -> None:
    tail = ("Sigmoid", ["l"], "y")
    metadata = {"edged.preprocess": "raw", "edged.labels": '["smoke"]'}
    path = network_with(tmp_path / "net.onnx", tail, before=1, outputs=1, metadata=metadata)
    picture = np.random.default_rng(0).integers(0, 256, (SIDE, SIDE, 3), np.uint8)

    with edged.Model(path, device="numpy") as model:
        scores = model(picture)
        best = model.top(scores)

    assert scores == pytest.approx(1 / (1 + np.exp(-logits(picture[None], 1)[0])), abs=1e-6)
    assert {label.label: label.score for label in best} == pytest.approx(
        {"smoke": scores[0], "not smoke": 1 - scores[0]}
    )
