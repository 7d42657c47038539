"""Layouts of outputs, told from each other by shapes and by what the last operators do."""

from collections.abc import Sequence

import pytest

from edged.detection.outputs import Shapes
from edged.detection.recognition import OutputFacts, fits, recognised
from edged.messages.detection import Decode

SIZE = (640, 640)  # 8,400 cells in steps of 8, 16 and 32; 8,500 with steps of 64


def by_stride(*channels: int) -> list[tuple[int, ...]]:
    """Return maps of so many channels, one after the other, of each stride."""
    return [(each, side, side) for side in (80, 40, 20) for each in channels]


def tables(*columns: int, anchors: int = 1) -> list[tuple[int, ...]]:
    """Return tables of so many columns, all strides of one after the other."""
    return [(anchors * cells, each) for each in columns for cells in (6400, 1600, 400)]


def facts(
    *shapes: tuple[int, ...],
    is_decoded: bool = False,
    softmax_of: int | None = None,
    logits_of: int | Sequence[int] | None = None,
    samples: bool = False,
    are_sigmoids: bool = False,
) -> OutputFacts:
    logits = [logits_of] if isinstance(logits_of, int) else logits_of or ()
    with_softmax, are_logits = (
        tuple(index in numbers for index in range(len(shapes))) for numbers in ([softmax_of], logits)
    )
    return OutputFacts(shapes, SIZE, is_decoded, with_softmax, are_logits, samples, are_sigmoids)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (facts((8400, 85)), "yolox"),
        (facts((8400, 85), is_decoded=True), "yolo"),  # YOLOv6
        (facts((25200, 85), is_decoded=True), "yolo"),  # YOLOv5, YOLOv7
        (facts((84, 8400), is_decoded=True), "yolo"),  # YOLOv8 and later
        (facts((84, 2000), is_decoded=True), "yolo"),  # of a tiny network: steps of 16 and 32
        (facts((84, 34_000), is_decoded=True), "yolo"),  # of a network that begins with steps of 4: P2
        (facts((8500, 112)), "nanodet"),
        (facts((85, 40, 40)), "fastestdet"),
        (facts(*by_stride(85)), "yolox"),  # as Rockchip's tools export it
        (facts(*by_stride(64, 80, 1), logits_of=(0, 3, 6)), "distances"),  # YOLOv8, with the sums of scores
        (facts(*by_stride(64, 1, 1), logits_of=(0, 3, 6)), "distances"),
        (facts(*by_stride(68, 80), logits_of=(0, 2, 4)), "distances"),  # PP-YOLOE
        (facts(*by_stride(4, 80, 1), logits_of=(0, 3, 6)), "distances"),  # YOLOv6
        (facts(*by_stride(64, 80), logits_of=range(6)), None),  # which are scores?
        (facts(*by_stride(80, 64), logits_of=(1, 3, 5)), None),  # scores first
        (facts(*by_stride(64, 80, 1, 32), logits_of=(0, 4, 8)), None),  # with masks
        (facts(*by_stride(64, 80)[:-1], logits_of=(0, 2, 4)), None),
        (facts(*by_stride(255), are_sigmoids=True), None),  # beside anchors that the file has not
        (facts(*by_stride(255), logits_of=range(3)), None),
        (facts((8400, 80), (8400, 4), is_decoded=True), "boxes"),
        (facts((8400, 4), (8400, 80), is_decoded=True), "boxes"),
        (facts((3000, 21), (3000, 4), is_decoded=True, softmax_of=0), "ssd"),
        (facts((3000, 4), (3000, 21), is_decoded=True, softmax_of=1), "ssd"),
        (facts((8400, 4), (8400, 80), is_decoded=True, softmax_of=0), "boxes"),  # of distances, as in YOLO-NAS
        (facts((100, 92), (100, 4), logits_of=0), "detr"),
        (facts((300, 80), (300, 4), is_decoded=True, logits_of=0, samples=True), "rtdetr"),
        (facts((300, 4), (300, 91), logits_of=1, samples=True), "rtdetr"),  # RF-DETR
        (facts((300, 80), (300, 4), is_decoded=True, logits_of=1, samples=True), "boxes"),
        (facts((300, 80), (300, 4), is_decoded=True, logits_of=0), None),  # Conditional DETR: by its name alone
        (facts((300, 4), (300, 80), samples=True, are_sigmoids=True), "centres"),  # RT-DETR of Ultralytics
        (facts((300, 84), samples=True, are_sigmoids=True), "centres"),
        (facts((300, 84), are_sigmoids=True), None),
        (facts(*tables(1, 1, 4, 10)), "yunet"),
        (facts(*tables(1, 4, 10, anchors=2)), "scrfd"),
        (facts(*tables(1, 4, anchors=2)), "scrfd"),
        (facts(*tables(1, 4, 10)), None),
        (facts(*tables(1, 1, 4, 10)[:-1]), None),
        (facts((1000,)), None),
        (facts((300, 6), is_decoded=True), None),
        (facts((8400, 80), (8400, 4), (1,), is_decoded=True), None),
        (facts((25200, 85)), None),  # not decoded
    ],
)
def test_what_outputs_are(found: OutputFacts, expected: Decode | None) -> None:
    assert recognised(found) == expected


@pytest.mark.parametrize(
    ("decode", "shapes", "expected"),
    [
        ("yolo", ((1000, 25),), True),  # of other strides than the usual ones
        ("yolo", ((1000, 4),), False),
        ("ssd", ((10, 4), (10, 21)), True),
        ("ssd", ((10, 4), (11, 21)), False),
        ("detr", ((100, 92), (100, 4)), True),
        ("rtdetr", ((300, 91), (300, 4)), True),
        ("centres", ((300, 84),), True),
        ("centres", ((300, 4), (300, 80)), True),
        ("centres", ((300, 4),), False),
        ("boxes", ((8400, 84),), False),
        ("yolox", ((8401, 85),), False),
        ("yolox", ((8500, 85),), False),
        ("yolov5", by_stride(255), True),
        ("yolov7", by_stride(18), True),
        ("yolov5", by_stride(85), False),
        ("yolov5", by_stride(255)[:2], False),
        ("distances", by_stride(64, 80), True),
        ("distances", by_stride(65, 80), False),
    ],
)
def test_what_may_be_named(decode: Decode, shapes: Shapes, expected: bool) -> None:
    assert fits(decode, facts(*shapes)) is expected
