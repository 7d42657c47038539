"""Small detectors with random weights in the layouts of real ones, as ONNX files."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

from tests.model.onnx_files import Network

SIDE, CLASSES, CHANNELS = 64, 3, 8
STRIDES = (8, 16, 32)


class DetectorFile(Network):
    """A backbone with a map of features for each stride, and as many outputs as wanted."""

    def __init__(self, strides: Sequence[int] = STRIDES, seed: int = 0) -> None:
        super().__init__([1, 3, SIDE, SIDE], seed=seed)
        self._convolution(3, CHANNELS, stride=2)
        self.maps: dict[int, str] = {}
        for stride in (4, 8, 16, 32, 64):
            self._convolution(CHANNELS, CHANNELS, stride=2)
            self.maps[stride] = self.tensor
        self.maps = {stride: self.maps[stride] for stride in strides}

    def _convolution(self, channels: int, out: int, stride: int) -> None:
        weight = self.normal(out, channels, 3, 3, std=float(np.sqrt(2 / (9 * channels))))
        self.add("Conv", weight, kernel_shape=[3, 3], strides=[stride] * 2, pads=[1, 1, 1, 1])
        self.add("Relu")

    def head(self, stride: int, channels: int, *, is_positive: bool = False) -> str:
        """A layer of its own on a map: [1, channels, rows, columns]."""
        numbers = (self.random.standard_normal((channels, CHANNELS, 1, 1)) * 0.5).astype(np.float32)
        weight = self.weight(np.abs(numbers) if is_positive else numbers)
        return self.add("Conv", weight, reads=self.maps[stride], kernel_shape=[1, 1])

    def cells(self, tensor: str, columns: int) -> str:
        """A map as [1, rows, columns]: a row for each cell, or for several anchors in it."""
        last = self.add("Transpose", reads=tensor, perm=[0, 2, 3, 1])
        return self.add("Reshape", self.integers(1, -1, columns), reads=last)

    def integers(self, *numbers: int) -> str:
        return self.weight(np.array(numbers, np.int64))

    def joined(self, tensors: Sequence[str], axis: int) -> str:
        return self.add("Concat", *tensors[1:], reads=tensors[0], axis=axis)

    def save_with(
        self,
        path: Path,
        outputs: Sequence[str],
        metadata: Mapping[str, str] | None = None,
        others: Sequence[onnx.ValueInfoProto] = (),
    ) -> Path:
        """Write a file with these outputs, and with other inputs beside the picture."""
        model = self.model(metadata)
        model.graph.input.extend(others)
        del model.graph.output[:]
        model.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs)
        onnx.save(onnx.shape_inference.infer_shapes(model), str(path))
        return path


def yolox_by_stride(file: DetectorFile) -> list[str]:
    """As Rockchip's tools export YOLOX: a map for each stride."""
    pairs = [(file.head(stride, 4), file.head(stride, 1 + CLASSES)) for stride in file.maps]
    return [file.joined([box, file.add("Sigmoid", reads=others)], axis=1) for box, others in pairs]


def yolox(file: DetectorFile) -> list[str]:
    flat = file.integers(1, 5 + CLASSES, -1)
    parts = [file.add("Reshape", flat, reads=each) for each in yolox_by_stride(file)]
    return [file.add("Transpose", reads=file.joined(parts, axis=2), perm=[0, 2, 1])]


def in_pixels(file: DetectorFile, boxes: str) -> str:
    """Positive numbers up to the side: [1, …], by a sigmoid."""
    return file.add("Mul", file.weight(np.float32(SIDE).reshape(1)), reads=file.add("Sigmoid", reads=boxes))


def yolo(file: DetectorFile) -> list[str]:
    """As YOLOv8: [1, 4 + classes, anchors]."""
    boxes = [file.add("Reshape", file.integers(1, 4, -1), reads=file.head(stride, 4)) for stride in file.maps]
    scores = [
        file.add("Reshape", file.integers(1, CLASSES, -1), reads=file.head(stride, CLASSES))
        for stride in file.maps
    ]
    decoded = in_pixels(file, file.joined(boxes, axis=2))
    probable = file.add("Sigmoid", reads=file.joined(scores, axis=2))
    return [file.joined([decoded, probable], axis=1)]


def yolo_with_objectness(file: DetectorFile) -> list[str]:
    """As YOLOv5: [1, 3 · cells, 5 + classes]."""
    maps = [file.cells(file.head(stride, 3 * (5 + CLASSES)), 5 + CLASSES) for stride in file.maps]
    rows = file.add("Sigmoid", reads=file.joined(maps, axis=1))
    factors = np.array([SIDE] * 4 + [1] * (1 + CLASSES), np.float32)
    return [file.add("Mul", file.weight(factors), reads=rows)]


def pair(file: DetectorFile, *, is_of_ssd: bool) -> list[str]:
    classes = CLASSES + 1 if is_of_ssd else CLASSES
    scores = file.joined([file.cells(file.head(stride, classes), classes) for stride in file.maps], axis=1)
    boxes = file.joined([file.cells(file.head(stride, 4), 4) for stride in file.maps], axis=1)
    shares = file.add("Sigmoid", reads=boxes)
    half = file.add("Mul", file.weight(np.full(1, 0.5, np.float32)), reads=shares)
    scored = file.add("Softmax", reads=scores, axis=2) if is_of_ssd else file.add("Sigmoid", reads=scores)
    return [scored, half]


def distances(file: DetectorFile, bins: int = 16) -> list[str]:
    """As Rockchip's tools export YOLOv8: distances, scores and their sum for each stride."""
    outputs = []
    for stride in file.maps:
        scores = file.add("Sigmoid", reads=file.head(stride, CLASSES))
        total = file.add("ReduceSum", file.integers(1), reads=scores, keepdims=1)
        outputs += [file.head(stride, 4 * bins, is_positive=bins == 1), scores, file.add("Relu", reads=total)]
    return outputs


def yolov5(file: DetectorFile, *, has_sigmoid: bool = True) -> list[str]:
    """As Rockchip's tools export YOLOv5: three anchors in a map for each stride."""
    maps = [file.head(stride, 3 * (5 + CLASSES)) for stride in file.maps]
    return [file.add("Sigmoid", reads=each) for each in maps] if has_sigmoid else maps


def yolov7_without_grid(file: DetectorFile) -> list[str]:
    """As YOLOv7's export without --grid: [1, 3, rows, columns, 5 + classes] for each stride."""
    outputs = []
    for stride in file.maps:
        side = SIDE // stride
        whole = file.head(stride, 3 * (5 + CLASSES))
        by_anchor = file.add("Reshape", file.integers(1, 3, 5 + CLASSES, side, side), reads=whole)
        outputs.append(file.add("Transpose", reads=by_anchor, perm=[0, 1, 3, 4, 2]))
    return outputs


def ssd(file: DetectorFile) -> list[str]:
    return pair(file, is_of_ssd=True)


def boxes(file: DetectorFile) -> list[str]:
    return pair(file, is_of_ssd=False)


def boxes_of_all_classes(file: DetectorFile) -> list[str]:
    """As YOLOv4 from Darknet: boxes [1, anchors, 1, 4], which all classes share."""
    scores, corners = boxes(file)
    return [file.add("Unsqueeze", file.integers(2), reads=corners), scores]


def detr(file: DetectorFile) -> list[str]:
    """As DETR: logits [1, queries, classes + 1], and centres and sizes as shares [1, queries, 4]."""
    logits = file.joined([file.cells(file.head(stride, CLASSES + 1), CLASSES + 1) for stride in file.maps], axis=1)
    boxes = file.joined([file.cells(file.head(stride, 4), 4) for stride in file.maps], axis=1)
    return [logits, file.add("Sigmoid", reads=boxes)]


def rtdetr(file: DetectorFile) -> list[str]:
    """As RF-DETR: centres and sizes as shares [1, queries, 4], and logits [1, queries, classes]."""
    stride = min(file.maps)
    offsets = file.add("Tanh", reads=file.head(stride, 2))
    positions = file.add("Transpose", reads=offsets, perm=[0, 2, 3, 1])
    file.maps[stride] = file.add("GridSample", positions, reads=file.maps[stride])
    logits = file.joined([file.cells(file.head(each, CLASSES), CLASSES) for each in file.maps], axis=1)
    boxes = file.joined([file.cells(file.head(each, 4), 4) for each in file.maps], axis=1)
    return [file.add("Sigmoid", reads=boxes), logits]


def centres(file: DetectorFile) -> list[str]:
    """As RT-DETR of Ultralytics since 8.4: centres and sizes as shares, and scores [1, queries, classes]."""
    boxes, logits = rtdetr(file)
    return [boxes, file.add("Sigmoid", reads=logits)]


def centres_in_a_table(file: DetectorFile) -> list[str]:
    """As RT-DETR of Ultralytics before 8.4: [1, queries, 4 + classes]."""
    return [file.joined(centres(file), axis=2)]


def fastestdet(file: DetectorFile) -> list[str]:
    stride = 16
    objects, box = file.add("Sigmoid", reads=file.head(stride, 1)), file.head(stride, 4)
    classes = file.add("Softmax", reads=file.head(stride, CLASSES), axis=1)
    return [file.joined([objects, box, classes], axis=1)]


def nanodet(file: DetectorFile) -> list[str]:
    parts = []
    for stride in file.maps:
        scores = file.add("Sigmoid", reads=file.head(stride, CLASSES))
        whole = file.joined([scores, file.head(stride, 32)], axis=1)
        parts.append(file.cells(whole, CLASSES + 32))
    return [file.joined(parts, axis=1)]


def picodet(file: DetectorFile) -> list[str]:
    scores = [file.add("Sigmoid", reads=file.cells(file.head(stride, CLASSES), CLASSES)) for stride in file.maps]
    return [*scores, *(file.cells(file.head(stride, 32), 32) for stride in file.maps)]


def yunet(file: DetectorFile) -> list[str]:
    """All strides of one kind after the other: two scores, boxes, landmarks."""
    outputs = []
    for width in (1, 1, 4, 10):
        tables = [file.cells(file.head(stride, width), width) for stride in file.maps]
        outputs += [file.add("Sigmoid", reads=table) for table in tables] if width == 1 else tables
    return outputs


def scrfd(file: DetectorFile) -> list[str]:
    """Likewise of two anchors a cell, in tables without a batch."""
    outputs = []
    for width in (1, 4):
        maps = [
            file.add("Transpose", reads=file.head(stride, 2 * width), perm=[2, 3, 0, 1]) for stride in file.maps
        ]
        tables = [file.add("Reshape", file.integers(-1, width), reads=each) for each in maps]
        outputs += [file.add("Sigmoid", reads=table) for table in tables] if width == 1 else tables
    return outputs


MOST_BOXES = 20  # of a file that chooses
INPUT_PIXELS = np.array([0.0, 0.0, SIDE / 2, SIDE / 2], np.float32)  # added to a corner's two numbers, twice


def corners_and_scores(file: DetectorFile) -> tuple[str, str]:
    """Boxes in pixels [1, anchors, 4], left above right and top above bottom, and scores [1, anchors, classes]."""
    boxes = file.joined([file.cells(file.head(stride, 4), 4) for stride in file.maps], axis=1)
    halves = file.add("Mul", file.weight(np.full(1, SIDE / 2, np.float32)), reads=file.add("Sigmoid", reads=boxes))
    corners = file.add("Add", file.weight(INPUT_PIXELS), reads=halves)
    scores = file.joined([file.cells(file.head(stride, CLASSES), CLASSES) for stride in file.maps], axis=1)
    return corners, file.add("Sigmoid", reads=scores)


def yolo_with_rows(file: DetectorFile) -> list[str]:
    """As YOLOv10: the best anchors, of these the best classes, [1, 20, 6]: corners, score, class."""
    joined = file.joined(corners_and_scores(file), axis=2)
    boxes, scores = "boxes", "scores"
    file.nodes.append(
        helper.make_node("Split", [joined, file.integers(4, CLASSES)], [boxes, scores], "split", axis=2)
    )
    most = file.integers(MOST_BOXES)
    best = file.add("ReduceMax", reads=scores, axes=[2], keepdims=0)
    file.nodes.append(helper.make_node("TopK", [best, most], ["best", "anchors"], "anchors", axis=1))
    anchors = file.add("Unsqueeze", file.integers(2), reads="anchors")
    of_boxes = file.add("Expand", file.integers(1, MOST_BOXES, 4), reads=anchors)
    of_scores = file.add("Expand", file.integers(1, MOST_BOXES, CLASSES), reads=anchors)
    boxes = file.add("GatherElements", of_boxes, reads=boxes, axis=1)
    flat = file.add("Flatten", reads=file.add("GatherElements", of_scores, reads=scores, axis=1))
    file.nodes.append(helper.make_node("TopK", [flat, most], ["top", "places"], "places", axis=1))
    rows = file.add("Div", file.weight(np.array(CLASSES)), reads="places")
    classes = file.add("Mod", file.weight(np.array(CLASSES)), reads="places")
    places = file.add(
        "Expand", file.integers(1, MOST_BOXES, 4), reads=file.add("Unsqueeze", file.integers(2), reads=rows)
    )
    chosen = file.add("GatherElements", places, reads=boxes, axis=1)
    top = file.add("Unsqueeze", file.integers(2), reads="top")
    numbers = file.add("Cast", reads=file.add("Unsqueeze", file.integers(2), reads=classes), to=TensorProto.FLOAT)
    return [file.joined([chosen, top, numbers], axis=2)]


def yolo_with_suppression(file: DetectorFile) -> list[str]:
    """As YOLOv7 and PaddleDetection: the indices of frame, class and anchor of the boxes that stay, [n, 3]."""
    corners, scores = corners_and_scores(file)
    turned = file.add("Transpose", reads=scores, perm=[0, 2, 1])
    numbers = [file.weight(np.array(number)) for number in (np.int64(100), np.float32(0.45), np.float32(0.85))]
    chosen = file.add("NonMaxSuppression", turned, *numbers, reads=corners)
    return [file.add("Cast", reads=chosen, to=TensorProto.FLOAT)]


def yolo_of_ultralytics(file: DetectorFile, *, is_open: bool = False) -> list[str]:
    """As `nms=True` of Ultralytics: rows of corners, scores and nothing else, of which the best stay, [n, 1].

    `is_open`: as `dynamic=True`, too, where the end of nothing else is computed.
    """
    corners, scores = corners_and_scores(file)
    parts = [file.add("Transpose", reads=part, perm=[0, 2, 1]) for part in (corners, scores)]
    rows = file.add("Transpose", reads=file.joined(parts, axis=1), perm=[0, 2, 1])
    ends = [file.integers(number) for number in (0, 4, 4 + CLASSES, 4 + CLASSES)]
    if is_open:
        ends[3] = file.add("Gather", file.integers(2), reads=file.add("Shape", reads=rows), axis=0)
    boxes, scores, others = (
        file.add("Slice", begin, end, file.integers(2), *([file.integers(1)] if is_open else []), reads=rows)
        for begin, end in pairwise(ends)
    )
    best = file.add("ReduceMax", reads=scores, axes=[2], keepdims=1)
    label = file.add("Cast", reads=file.add("ArgMax", reads=scores, axis=2), to=TensorProto.FLOAT)
    apart = file.add("Mul", file.weight(np.full(1, 2 * SIDE, np.float32)), reads=label)  # labels do not overlap
    numbers = [file.weight(np.array(number)) for number in (np.int64(100), np.float32(0.45), np.float32(0.85))]
    turned = file.add("Transpose", reads=best, perm=[0, 2, 1])
    chosen = file.add("NonMaxSuppression", turned, *numbers, reads=file.add("Add", apart, reads=boxes))
    anchors = file.add("Gather", file.weight(np.array(2)), reads=chosen, axis=1)
    all_rows = file.joined([boxes, best, label, others], axis=2)
    return [file.add("Gather", anchors, reads=all_rows, axis=1)]


def yolo_in_tables(file: DetectorFile) -> list[str]:
    """As torchvision: boxes and scores of one picture, without a batch; the scores of boxes that stay, [n]."""
    corners, scores = (file.add("Squeeze", file.integers(0), reads=part) for part in corners_and_scores(file))
    above = file.add("Greater", file.weight(np.array(0.85, np.float32)), reads=scores)
    places = file.add("NonZero", reads=above)
    some_scores = file.add("GatherND", file.add("Transpose", reads=places), reads=scores)
    anchors = file.add("Gather", file.weight(np.array(0)), reads=places, axis=0)
    some_corners = file.add("Gather", anchors, reads=corners, axis=0)
    numbers = [file.weight(np.array(number)) for number in (np.int64(100), np.float32(0.45))]
    of_one_class = file.add("Unsqueeze", file.integers(0, 1), reads=some_scores)
    boxes = file.add("Unsqueeze", file.integers(0), reads=some_corners)
    chosen = file.add("NonMaxSuppression", of_one_class, *numbers, reads=boxes)
    return [
        file.add("Gather", file.add("Gather", file.weight(np.array(2)), reads=chosen, axis=1), reads=some_scores)
    ]


SIZES = "orig_target_sizes"  # the input of `with_sizes`: width and height of each whole picture


def with_sizes(file: DetectorFile) -> list[str]:
    """As RT-DETR and D-FINE export themselves: labels and scores [1, 20], boxes [1, 20, 4] in the picture."""
    corners, scores = corners_and_scores(file)
    repeated = file.add("Concat", SIZES, reads=SIZES, axis=1)
    sides = file.add("Cast", reads=file.add("Unsqueeze", file.integers(1), reads=repeated), to=TensorProto.FLOAT)
    pixels = file.add(
        "Mul", sides, reads=file.add("Div", file.weight(np.full(1, SIDE, np.float32)), reads=corners)
    )
    flat = file.add("Flatten", reads=scores)
    file.nodes.append(helper.make_node("TopK", [flat, file.integers(MOST_BOXES)], ["top", "places"], "places"))
    rows = file.add("Div", file.weight(np.array(CLASSES)), reads="places")
    remainders = file.add("Mod", file.weight(np.array(CLASSES)), reads="places")
    labels = file.add("Cast", reads=remainders, to=TensorProto.FLOAT)
    places = file.add("Tile", file.integers(1, 1, 4), reads=file.add("Unsqueeze", file.integers(2), reads=rows))
    return [labels, file.add("GatherElements", places, reads=pixels, axis=1), "top"]


def file_with_sizes(path: Path) -> Path:
    file = DetectorFile()
    sizes = helper.make_tensor_value_info(SIZES, TensorProto.INT64, [1, 2])
    return file.save_with(path, with_sizes(file), others=[sizes])


CHOOSING: dict[str, Callable[[DetectorFile], list[str]]] = {
    "rows": yolo_with_rows,
    "suppression": yolo_with_suppression,
    "ultralytics": yolo_of_ultralytics,
    "tables": yolo_in_tables,
    "ultralytics, open": partial(yolo_of_ultralytics, is_open=True),
}


def choosing_file(path: Path, name: str, metadata: Mapping[str, str] | None = None) -> Path:
    """A network that ends in the choice of its boxes, in the way `name`: 64×64 pixels, three classes."""
    file = DetectorFile()
    return file.save_with(path, CHOOSING[name](file), metadata)


FOUR = (8, 16, 32, 64)
DETECTORS: dict[str, tuple[Callable[[DetectorFile], list[str]], Sequence[int]]] = {
    "yolox": (yolox, STRIDES),
    "yolox by stride": (yolox_by_stride, STRIDES),
    "distances": (distances, STRIDES),
    "distances without bins": (partial(distances, bins=1), STRIDES),
    "yolo": (yolo, STRIDES),
    "yolo with objectness": (yolo_with_objectness, STRIDES),
    "ssd": (ssd, STRIDES),
    "boxes": (boxes, STRIDES),
    "boxes of all classes": (boxes_of_all_classes, STRIDES),
    "detr": (detr, STRIDES),
    "rtdetr": (rtdetr, STRIDES),
    "centres": (centres, STRIDES),
    "centres in a table": (centres_in_a_table, STRIDES),
    "fastestdet": (fastestdet, STRIDES),
    "nanodet": (nanodet, FOUR),
    "picodet": (picodet, FOUR),
}


def detector_file(path: Path, name: str, metadata: Mapping[str, str] | None = None) -> Path:
    """A network of the layout `name`: 64×64 pixels, three classes."""
    outputs_of, strides = DETECTORS[name]
    file = DetectorFile(strides)
    return file.save_with(path, outputs_of(file), metadata)
