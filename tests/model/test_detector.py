"""Which networks are detectors, how their outputs are laid out, and what a mistake is answered by."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from edged import config
from edged.errors import ModelError
from edged.model import reference
from edged.model.metadata_file import with_properties
from edged.model.package import Model, load_model
from edged.model.scores import score_rule
from tests.cli.models import small_network
from tests.model.detectors import (
    CLASSES,
    DETECTORS,
    SIDE,
    DetectorFile,
    detector_file,
    scrfd,
    yolo_with_objectness,
    yolov5,
    yolov7_without_grid,
    yolox,
    yunet,
)
from tests.model.onnx_files import onnxruntime_all_outputs, relative_error

OF_ULTRALYTICS = {"task": "detect", "names": "{0: 'cat', 1: 'dog', 2: 'cow'}"}


def loaded(path: Path, **keys: Any) -> Model:
    return load_model(config.ModelConfig(path=path, **keys))


@pytest.mark.parametrize("name", DETECTORS)
def test_a_layout_is_recognised_by_the_outputs(tmp_path: Path, name: str) -> None:
    model = loaded(detector_file(tmp_path / "net.onnx", name))

    assert model.detector is not None
    assert (model.detector.decode, model.detector.known_by) == (name.partition(" ")[0], "network")
    assert model.labels == ("0", "1", "2")


@pytest.mark.parametrize("name", DETECTORS)
def test_all_outputs_follow_each_other_in_one_vector(tmp_path: Path, name: str) -> None:
    path = detector_file(tmp_path / "net.onnx", name)
    x = np.random.default_rng(1).standard_normal((1, 3, SIDE, SIDE)).astype(np.float32)

    found = reference.run(loaded(path).graph, x)

    assert relative_error(found, onnxruntime_all_outputs(path, x)) < 1e-5


def test_pictures_are_prepared_as_the_layout_wants_it_if_nothing_else_says(tmp_path: Path) -> None:
    path = detector_file(tmp_path / "net.onnx", "yolox")

    assert loaded(path).input.described.startswith("yolox: resize 64×64 (corner")
    assert loaded(path).prepared_by == "layout"
    assert loaded(path, preprocess="imagenet", size=SIDE).input.described.startswith("imagenet")
    assert loaded(path, preprocess="imagenet").prepared_by == "config"


def test_a_file_from_ultralytics_says_its_task_and_its_labels(tmp_path: Path) -> None:
    model = loaded(detector_file(tmp_path / "net.onnx", "yolo", OF_ULTRALYTICS))

    assert model.labels == ("cat", "dog", "cow")
    assert model.detector


def test_a_file_from_ultralytics_that_leaves_its_size_open_says_for_which_it_was_made(tmp_path: Path) -> None:
    path = detector_file(tmp_path / "net.onnx", "yolo", {**OF_ULTRALYTICS, "imgsz": "[64, 64]"})
    opened = onnx.load(str(path))
    for dim in opened.graph.input[0].type.tensor_type.shape.dim[2:]:
        dim.ClearField("dim_value")
    onnx.save(opened, str(path))

    assert (loaded(path).input.width, loaded(path).input.height) == (64, 64)
    assert loaded(path, size=(96, 64)).input.width == 96


def test_a_classifier_from_ultralytics_takes_the_centre_of_a_picture(tmp_path: Path) -> None:
    path = small_network(tmp_path / "net.onnx")
    properties = {"task": "classify", "names": str(dict(enumerate("abcde")))}
    path.write_bytes(b"".join(with_properties(path.read_bytes(), properties, frozenset())))

    model = loaded(path)

    assert (model.prepared_by, model.input.resize, model.input.scale) == ("file", "crop", 1 / 255)
    assert loaded(path, resize="stretch").input.resize == "stretch"


def test_another_task_of_ultralytics_is_refused(tmp_path: Path) -> None:
    metadata = {"task": "pose", "names": "{0: 'person'}"}
    path = detector_file(tmp_path / "net.onnx", "yolo", metadata)

    with pytest.raises(
        ModelError, match=r"net\.onnx: its metadata says task pose; supported are classify and detect"
    ):
        loaded(path)


def test_metadata_of_the_file_name_the_layout(tmp_path: Path) -> None:
    path = detector_file(tmp_path / "net.onnx", "boxes")
    properties = {"edged.task": "detect", "edged.decode": "ssd"}
    path.write_bytes(b"".join(with_properties(path.read_bytes(), properties, frozenset())))

    model = loaded(path)

    assert model.detector
    assert (model.detector.decode, model.detector.known_by, len(model.labels)) == ("ssd", "file", CLASSES - 1)
    assert loaded(path, decode="boxes").labels == ("0", "1", "2")


def test_thresholds_and_limits_come_from_the_config(tmp_path: Path) -> None:
    path = detector_file(tmp_path / "net.onnx", "yolox")

    model = loaded(path, threshold=0.3, thresholds={"1": 0.8}, boxes={"overlap": 0.6, "most": 7})

    assert model.detector
    limits = model.detector.limits
    assert (limits.thresholds, limits.overlap, limits.most) == ((0.3, 0.8, 0.3), 0.6, 7)


def test_an_image_as_output_is_refused(tmp_path: Path) -> None:
    file = DetectorFile()

    with pytest.raises(ModelError, match=r"net\.onnx: the output is conv_\d+ \[2, 8, 8\]; supported is one score"):
        loaded(file.save_with(tmp_path / "net.onnx", [file.head(8, 2)]))


@pytest.mark.parametrize("outputs", [yolov5, partial(yolov5, has_sigmoid=False), yolov7_without_grid])
def test_boxes_beside_anchors_are_decoded_by_those_of_the_version_that_is_named(
    tmp_path: Path, outputs: Callable[[DetectorFile], list[str]]
) -> None:
    file = DetectorFile()
    path = file.save_with(tmp_path / "net.onnx", outputs(file))

    with pytest.raises(ModelError, match=r"boxes beside anchors, .* say decode: yolov5, .* decode: yolov7"):
        loaded(path)

    for decode in ("yolov5", "yolov7"):
        model = loaded(path, decode=decode)
        assert model.labels == ("0", "1", "2")
        assert model.detector
        assert (model.detector.decode, model.detector.known_by) == (decode, "config")


@pytest.mark.parametrize(("decode", "outputs"), [("yunet", yunet), ("scrfd", scrfd)])
def test_a_detector_of_faces_has_one_label(
    tmp_path: Path, decode: str, outputs: Callable[[DetectorFile], list[str]]
) -> None:
    file = DetectorFile()
    path = file.save_with(tmp_path / "net.onnx", outputs(file))
    x = np.random.default_rng(1).standard_normal((2, 3, SIDE, SIDE)).astype(np.float32)

    model = loaded(path)

    assert model.labels == ("face",)
    assert model.detector
    assert (model.detector.decode, model.detector.known_by) == (decode, "network")
    expected = np.concatenate([onnxruntime_all_outputs(path, x[:1]), onnxruntime_all_outputs(path, x[1:])])
    assert relative_error(reference.run(model.graph, x), expected) < 1e-5


def test_maps_beside_the_boxes_that_follow_from_them_are_left_out(tmp_path: Path) -> None:
    file = DetectorFile()
    boxes, *maps = [*yolo_with_objectness(file), *yolov7_without_grid(file)]

    model = loaded(file.save_with(tmp_path / "net.onnx", [boxes, *maps]))
    alone = loaded(file.save_with(tmp_path / "alone.onnx", [boxes]))

    assert model.detector == alone.detector
    assert len(model.graph.operators) == len(alone.graph.operators)


def test_outputs_of_no_known_layout_are_refused(tmp_path: Path) -> None:
    file = DetectorFile()
    flat = [file.add("Flatten", reads=file.head(stride, 2)) for stride in (16, 32)]

    with pytest.raises(ModelError, match=r"has 2 outputs \(flatten_\d+ \[32\], flatten_\d+ \[8\]\); supported is"):
        loaded(file.save_with(tmp_path / "net.onnx", flat))


@pytest.mark.parametrize(
    ("name", "keys", "expected"),
    [
        ("yolox", {"task": "classify"}, r"the output is \w+ \[84, 8\]; supported is one score for each class"),
        ("yolox", {"decode": "ssd"}, r"the output is \w+ \[84, 8\], which does not fit decode: ssd"),
        ("ssd", {"decode": "yolox"}, r"has 2 outputs \(.*\), which does not fit decode: yolox"),
        ("yolox", {"scores": "logits"}, "scores: logits is for classification, and this is a detector"),
        ("yolox", {"thresholds": {"cat": 0.5}}, "thresholds has 'cat', which is none of its labels: 0, 1, 2"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, name: str, keys: dict[str, Any], expected: str) -> None:
    path = detector_file(tmp_path / "net.onnx", name)

    with pytest.raises(ModelError, match=expected):
        loaded(path, **keys)


def test_a_classifier_as_a_detector_is_refused(tmp_path: Path) -> None:
    path = small_network(tmp_path / "net.onnx")

    with pytest.raises(ModelError, match=r"net\.onnx: the output is scores \[5\]; supported is one score"):
        loaded(path, task="detect")


def test_random_weights_give_no_boxes() -> None:
    with pytest.raises(ModelError, match="resnet18 gives scores of classes, not boxes"):
        load_model(config.ModelConfig(name="resnet18", task="detect"))


def test_too_few_labels_are_counted(tmp_path: Path) -> None:
    labels = tmp_path / "labels.txt"
    labels.write_text("cat\ndog\n")

    with pytest.raises(ModelError, match="has 2 labels for the 3 classes of the model"):
        loaded(detector_file(tmp_path / "net.onnx", "yolox"), labels=labels)


def test_a_detector_has_no_scores_of_classes(tmp_path: Path) -> None:
    model = loaded(detector_file(tmp_path / "net.onnx", "yolox"))

    with pytest.raises(ModelError, match="net is a detector: it finds boxes"):
        score_rule(model)


def test_the_outputs_are_known_after_another_start(tmp_path: Path) -> None:
    path = detector_file(tmp_path / "net.onnx", "picodet")

    first, second = loaded(path), loaded(path)  # the second one is read from the cache

    assert first.detector == second.detector


def test_an_output_that_is_no_batch_of_floats_is_refused(tmp_path: Path) -> None:
    file = DetectorFile()
    (rows,) = yolox(file)
    integers = file.add("Cast", reads=rows, to=onnx.TensorProto.INT32)

    with pytest.raises(ModelError, match=rf"output: input {integers} is of type int32; supported are floats"):
        loaded(file.save_with(tmp_path / "net.onnx", [rows, integers]))
