"""The bundled model: what it is, and that it reads digits."""

from itertools import islice
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from edged import config
from edged.camera.sources.synthetic import draw_pictures
from edged.model.graph import Float32
from edged.model.package import Model, load_model
from edged.model.reference import prepare, run
from edged.pictures.prepare import fitted
from edged.train.drawn.ahead import empty_frames, placed
from edged.train.drawn.handwriting import Bytes
from edged.train.drawn.source import WRITTEN
from edged.train.idx import read_idx

FILE = Path(__file__).parents[2] / "edged" / "model" / "bundled" / "digits.onnx"


@pytest.fixture(scope="module")
def digits() -> Model:
    return load_model(config.ModelConfig(name="digits"))


def scores(model: Model, frames: Bytes) -> Float32:
    """By onnxruntime: the NumPy reference would take minutes."""
    session = onnxruntime.InferenceSession(str(FILE), providers=["CPUExecutionProvider"])
    answered: Float32 = session.run(None, {"image": prepare(frames, model.input)})[0]
    return answered


def answers(model: Model, frames: Bytes) -> list[str]:
    return [model.labels[index] for index in scores(model, frames).argmax(1)]


def share(answered: list[str], truths: list[str | None]) -> float:
    return float(np.mean([answer == truth for answer, truth in zip(answered, truths, strict=True)]))


def test_it_says_what_it_wants_and_what_its_classes_are(digits: Model) -> None:
    assert digits.name == "digits"
    assert digits.labels == (*"0123456789", "nothing")
    assert (digits.input.width, digits.input.height, digits.input.color) == (120, 120, "rgb")
    assert digits.input.mean == (0.5, 0.5, 0.5)
    assert digits.input.std == (0.25, 0.25, 0.25)
    assert not digits.random_weights


def test_it_is_small() -> None:
    assert FILE.stat().st_size <= 2_000_000


def test_the_simplified_graph_computes_what_the_file_does(digits: Model) -> None:
    frames = empty_frames(4)
    expected = scores(digits, frames)
    assert np.allclose(run(digits.graph, prepare(frames, digits.input)), expected, atol=1e-4 * np.ptp(expected))


@pytest.mark.deep
def test_it_reads_the_synthetic_camera(digits: Model) -> None:
    pictures = list(islice(draw_pictures(1001, 640, 480, fps=5), 300))  # two to four frames of each scene
    frames = np.stack([fitted(picture.pixels, 120, 120) for picture in pictures])
    assert share(answers(digits, frames), [picture.truth for picture in pictures]) >= 0.97


def test_it_reads_handwriting(digits: Model, shared_data: Path) -> None:
    _, written, _ = read_idx(shared_data / "mnist", None, WRITTEN)
    assert written
    some = written[np.arange(300)]
    assert share(answers(digits, placed(some.images[..., 0])), [str(label) for label in some.labels]) >= 0.97


def test_it_sees_nothing_where_there_is_no_digit(digits: Model) -> None:
    frames = empty_frames(200)
    assert share(answers(digits, frames), ["nothing"] * 200) >= 0.98
    plain = np.stack([np.full((120, 120, 3), level, np.uint8) for level in range(0, 256, 15)])
    assert set(answers(digits, plain)) == {"nothing"}
