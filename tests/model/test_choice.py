"""Files that choose among their boxes are cut before that; edged's own choice gives the same boxes."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import helper

from edged import config
from edged.detection.detector import Detector
from edged.evaluation.onnxruntime_scores import OnnxruntimeNetwork
from edged.model import reference
from edged.model.from_onnx.file import read_file
from edged.model.package import Model, load_model
from tests.model.detectors import (
    CHOOSING,
    MOST_BOXES,
    SIDE,
    SIZES,
    DetectorFile,
    choosing_file,
    corners_and_scores,
    file_with_sizes,
)
from tests.model.onnx_files import Network, relative_error

ULTRALYTICS = {"task": "detect", "names": "{0: 'cat', 1: 'dog', 2: 'bird'}"}


class Pixels:
    """Boxes as they are, in pixels of the input."""

    def shares(self, boxes: NDArray[np.float32]) -> NDArray[np.float32]:
        return boxes


def loaded(path: Path, **keys: Any) -> Model:
    return load_model(config.ModelConfig(path=path, **keys))


def noise() -> NDArray[np.float32]:
    return np.random.default_rng(3).standard_normal((1, 3, SIDE, SIDE)).astype(np.float32)


def of_the_file(path: Path, x: NDArray[np.float32]) -> NDArray[Any]:
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return np.asarray(session.run(None, {"input": x})[0])


def detector_of(model: Model) -> Detector:
    assert model.detector is not None
    return model.detector


@pytest.mark.parametrize("name", CHOOSING)
def test_the_outputs_are_boxes_and_scores(tmp_path: Path, name: str) -> None:
    model = loaded(choosing_file(tmp_path / "net.onnx", name))

    assert detector_of(model).decode == "boxes"
    assert (84, 4) in detector_of(model).shapes
    assert model.labels == ("0", "1", "2")


def test_the_rows_of_a_file_are_the_best_boxes(tmp_path: Path) -> None:
    path, x = choosing_file(tmp_path / "net.onnx", "rows"), noise()
    rows = of_the_file(path, x)[0]
    model = loaded(path, threshold=float(rows[-1, 4]), boxes={"most": MOST_BOXES})

    found = detector_of(model).boxes(reference.run(model.graph, x), Pixels())

    assert len(found) > MOST_BOXES / 2
    expected = [(int(label), score, *box) for *box, score, label in of_best_classes(rows)]
    np.testing.assert_allclose([(each.index, each.score, *each.box) for each in found], expected, rtol=1e-3)


def of_best_classes(rows: NDArray[Any]) -> list[tuple[float, ...]]:
    """The first of the rows of each box: a file may give a box several times, edged gives its best class alone."""
    best: dict[tuple[float, ...], tuple[float, ...]] = {}
    for row in map(tuple, rows.tolist()):
        best.setdefault(row[:4], row)
    return list(best.values())


def test_the_boxes_that_a_file_does_not_suppress_are_those_of_edged(tmp_path: Path) -> None:
    path, x = choosing_file(tmp_path / "net.onnx", "suppression"), noise()
    model = loaded(path, threshold=0.85, boxes={"overlap": 0.45, "most": 300})

    found = detector_of(model).boxes(reference.run(model.graph, x), Pixels())

    chosen = {int(anchor) for _, _, anchor in of_the_file(path, x)}  # some with two classes: edged gives the best
    corners = reference.run_all(model.graph, x)[corners_of(model)].reshape(-1, 4)
    assert len(chosen) > 4
    assert {each.box for each in found} == {tuple(corners[anchor].tolist()) for anchor in chosen}


@pytest.mark.parametrize("name", ["ultralytics", "ultralytics, open"])
def test_a_file_of_ultralytics_with_suppression_gives_the_boxes_of_edged(tmp_path: Path, name: str) -> None:
    path, x = choosing_file(tmp_path / "net.onnx", name, ULTRALYTICS), noise()
    model = loaded(path, threshold=0.85, boxes={"most": 300})

    found = detector_of(model).boxes(reference.run(model.graph, x), Pixels())

    rows = sorted(map(tuple, of_the_file(path, x)[0].tolist()), key=lambda row: -row[4])
    assert len(rows) > 4
    np.testing.assert_allclose(
        [(*each.box, each.score, each.index) for each in found], [row[:6] for row in rows], rtol=1e-4
    )


def test_a_file_that_reads_the_sizes_of_pictures_is_cut_before_that(tmp_path: Path) -> None:
    path, x = file_with_sizes(tmp_path / "net.onnx"), noise()
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    labels, boxes, scores = session.run(None, {"input": x, SIZES: np.array([[640, 480]])})
    model = loaded(path, threshold=float(scores[0, -1]), boxes={"most": MOST_BOXES})

    found = detector_of(model).boxes(reference.run(model.graph, x), Pixels())

    assert len(found) > MOST_BOXES / 2
    rows = np.column_stack([boxes[0] * SIDE / (640, 480, 640, 480), scores[0], labels[0]])
    expected = [(int(label), score, *box) for *box, score, label in of_best_classes(rows)]
    np.testing.assert_allclose([(each.index, each.score, *each.box) for each in found], expected, rtol=1e-3)


def test_boxes_that_a_file_keeps_though_they_overlap_stay_unless_the_config_says_otherwise(tmp_path: Path) -> None:
    takes_the_best = choosing_file(tmp_path / "rows.onnx", "rows")
    suppresses = choosing_file(tmp_path / "suppression.onnx", "suppression")

    assert detector_of(loaded(takes_the_best)).limits.overlap == 1
    assert detector_of(loaded(suppresses)).limits.overlap == 0.45
    assert detector_of(loaded(takes_the_best, boxes={"overlap": 0.6})).limits.overlap == 0.6


def corners_of(model: Model) -> str:
    """The tensor of the graph with the boxes."""
    return next(name for name, shape in model.graph.shapes.items() if shape == (84 * 4,))


@pytest.mark.parametrize("name", [*CHOOSING, "sizes"])
def test_onnxruntime_is_compared_before_the_choice_too(tmp_path: Path, name: str) -> None:
    path = tmp_path / "net.onnx"
    model = loaded(file_with_sizes(path) if name == "sizes" else choosing_file(path, name))
    images = np.random.default_rng(0).integers(0, 256, (1, SIDE, SIDE, 3), np.uint8)

    found = OnnxruntimeNetwork(path, model.input).outputs(images)

    expected = reference.run(model.graph, reference.prepare(images, model.input))
    assert relative_error(found, expected) < 1e-5


@pytest.mark.parametrize("name", sorted(CHOOSING.keys() - {"tables"}))  # those are of a single picture
def test_a_file_may_leave_its_batch_open_as_a_size_of_0(tmp_path: Path, name: str) -> None:
    opened = onnx.load(str(path := choosing_file(tmp_path / "net.onnx", name)))
    for entry in (*opened.graph.input, *opened.graph.value_info):
        entry.type.tensor_type.shape.dim[0].dim_value = 0
    onnx.save(opened, str(path))

    assert (84, 4) in detector_of(loaded(path)).shapes


def test_a_file_of_ultralytics_has_its_labels_and_the_usual_preparation(tmp_path: Path) -> None:
    model = loaded(choosing_file(tmp_path / "net.onnx", "rows", ULTRALYTICS))

    assert model.labels == ("cat", "dog", "bird")
    assert (model.input.resize, model.input.color, model.input.scale) == ("letterbox", "rgb", 1 / 255)


def test_layers_behind_a_choice_stay(tmp_path: Path) -> None:
    network = DetectorFile()
    _, scores = corners_and_scores(network)
    best = network.add("ReduceMax", reads=scores, axes=[2], keepdims=0)
    network.nodes.append(helper.make_node("TopK", [best, network.integers(5)], ["top", "places"], "top", axis=1))
    layer = network.add("MatMul", network.normal(5, 4), reads="top")

    file = read_file(network.save_with(tmp_path / "net.onnx", [layer]))

    assert not file.chosen_from
    assert [entry.name for entry in file.model.graph.output] == [layer]


def test_the_best_scores_of_a_classifier_are_all_its_scores(tmp_path: Path) -> None:
    network = Network([1, 3, 8, 8])
    network.add("GlobalAveragePool")
    network.add("Flatten")
    network.add("Gemm", network.normal(3, 5))
    network.add("Softmax", axis=1)
    network.nodes.append(
        helper.make_node("TopK", [network.tensor, network.weight(np.array([2]))], ["best", "places"], axis=1)
    )
    network.tensor = "best"

    assert loaded(network.save(tmp_path / "net.onnx")).labels == ("0", "1", "2", "3", "4")
