"""Recognise the layout of a detector's outputs, by their shapes and by what the network's last operators do."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from edged.detection.anchors import ANCHORS, as_maps, face_anchors
from edged.detection.candidates import count_cells
from edged.detection.distances import BINS
from edged.detection.faces import ANCHORS_OF_SCRFD, COLUMNS_OF_SCRFD, COLUMNS_OF_YUNET
from edged.detection.outputs import (
    BOX,
    STRIDES,
    STRIDES_OF_4,
    Pair,
    Shapes,
    Size,
    maps_by_stride,
    pair_of,
    tables_by_stride,
)
from edged.messages.detection import Decode

MOST_CHANNELS_FIRST = 1024  # channels of [channels, anchors], of which there are more
STRIDES_OF_YOLO = (STRIDES, STRIDES_OF_4, (16, 32), (4, 8, 16, 32))  # the last two: tiny networks, and P2


@dataclass(frozen=True)
class OutputFacts:
    """What is known of a network's outputs.

    shapes: of one frame, in the file's order. size: height and width of the input. is_decoded: arithmetic follows
    the last layer with weights, so that boxes are in pixels or shares. with_softmax: whether a softmax does, for
    each output. are_logits: whether neither that nor another function of numbers does. samples: whether it
    reads features at positions that it computes, as attention with offsets does. are_sigmoids: whether a sigmoid
    is the last function of all outputs.
    """

    shapes: Shapes
    size: Size
    is_decoded: bool
    with_softmax: tuple[bool, ...]
    are_logits: tuple[bool, ...]
    samples: bool = False
    are_sigmoids: bool = False


def recognised(facts: OutputFacts) -> Decode | None:
    """Return the layout of these outputs; None if they fit none."""
    return next((decode for decode, fits in LAYOUTS.items() if fits(facts)), None)


def are_beside_anchors(facts: OutputFacts) -> bool:
    """Return whether these are boxes beside anchors, which no network has in its file: `yolov5` or `yolov7`."""
    return _fit_anchors(facts) and (facts.are_sigmoids or all(facts.are_logits))


def fits(decode: Decode, facts: OutputFacts) -> bool:
    """Return whether the outputs have the shapes of this layout, whatever the operators before them are."""
    if decode in {"ssd", "detr", "rtdetr", "boxes"}:
        return _pair_in(facts) is not None
    if decode == "centres":
        return _is_of_queries(facts)
    if decode in {"yolov5", "yolov7"}:
        return _fit_anchors(facts)
    if decode == "distances":
        return _fit_distances(facts)
    if decode == "yolo":
        return _table(facts)[1] > BOX + 1
    return any(LAYOUTS[decode](replace(facts, is_decoded=is_decoded)) for is_decoded in (False, True))


def _is_yolox(facts: OutputFacts) -> bool:
    match _channels_of_stride(facts):
        case (channels,):
            return channels > BOX + 1 and not are_beside_anchors(facts)
    return not facts.is_decoded and _is_table(facts, STRIDES, BOX + 1)


def _is_distances(facts: OutputFacts) -> bool:
    """Return whether distances come first, and then scores: both could be logits of either."""
    groups = maps_by_stride(facts.shapes, facts.size)
    return _fit_distances(facts) and all(
        facts.are_logits[sides] and not facts.are_logits[scores] for sides, scores, *_ in groups
    )


def _fit_distances(facts: OutputFacts) -> bool:
    match _channels_of_stride(facts):
        case (sides, _) | (sides, _, 1):
            return sides % BOX == 0
    return False


def _fit_anchors(facts: OutputFacts) -> bool:
    match _channels_of_stride(replace(facts, shapes=as_maps(facts.shapes))):
        case (channels,):
            return channels % ANCHORS == 0 and channels // ANCHORS > BOX + 1
    return False


def _channels_of_stride(facts: OutputFacts) -> tuple[int, ...]:
    """Return the channels of the maps of a stride; nothing if they are others for another stride."""
    groups = maps_by_stride(facts.shapes, facts.size)
    return _alike(tuple(facts.shapes[number][0] for number in group) for group in groups)


def _columns_of_stride(facts: OutputFacts, anchors: int) -> tuple[int, ...]:
    """Return likewise the columns of the tables of a stride, in order."""
    groups = tables_by_stride(facts.shapes, facts.size, anchors)
    return _alike(tuple(sorted(facts.shapes[number][1] for number in group)) for group in groups)


def _alike(of_strides: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    different = set(of_strides)
    return different.pop() if len(different) == 1 else ()


def _is_nanodet(facts: OutputFacts) -> bool:
    return not facts.is_decoded and _is_table(facts, STRIDES_OF_4, BOX * BINS)


def _is_yolo(facts: OutputFacts) -> bool:
    if not facts.is_decoded:
        return False
    first, second = _table(facts)
    counts = [count_cells(*facts.size, strides) for strides in STRIDES_OF_YOLO]
    if BOX < first <= MOST_CHANNELS_FIRST and second in counts:
        return True
    return second > BOX + 1 and first in [*counts, *(ANCHORS * count for count in counts)]


def _is_table(facts: OutputFacts, strides: tuple[int, ...], beside: int) -> bool:
    """Return whether the only output has a row for each cell of the grids, and more than `beside` columns."""
    rows, columns = _table(facts)
    return rows == count_cells(*facts.size, strides) and columns > beside


def _table(facts: OutputFacts) -> tuple[int, int]:
    """Return the rows and columns of the only output, where it has these axes; none elsewhere."""
    match facts.shapes:
        case [(rows, columns)]:
            return rows, columns
    return 0, 0


def _is_fastestdet(facts: OutputFacts) -> bool:
    match facts.shapes:
        case [(channels, rows, columns)]:
            return channels > 1 + BOX and (rows, columns) == (facts.size[0] // 16, facts.size[1] // 16)
    return False


def _is_picodet(facts: OutputFacts) -> bool:
    if len(facts.shapes) != 2 * len(STRIDES_OF_4) or any(len(shape) != 2 for shape in facts.shapes):
        return False
    counts = sorted(count_cells(*facts.size, (stride,)) for stride in STRIDES_OF_4)
    rows = [
        sorted(rows for rows, columns in facts.shapes if (columns == BOX * BINS) is are_sides)
        for are_sides in (True, False)
    ]
    return rows == [counts, counts] and len({columns for _, columns in facts.shapes}) == 2


def _pair_in(facts: OutputFacts) -> Pair | None:
    """Return which of two outputs are scores and boxes of the same anchors; None if they are something else."""
    return pair_of(facts.shapes) if len(facts.shapes) == 2 else None


def _is_ultraface(facts: OutputFacts) -> bool:
    is_of_faces = {shape[-1] for shape in facts.shapes} == {2, BOX}
    return (
        _pair_in(facts) is not None
        and is_of_faces
        and not facts.is_decoded
        and facts.shapes[0][0] == len(face_anchors(facts.size))
    )


def _is_yunet(facts: OutputFacts) -> bool:
    return _columns_of_stride(facts, 1) in COLUMNS_OF_YUNET


def _is_scrfd(facts: OutputFacts) -> bool:
    return _columns_of_stride(facts, ANCHORS_OF_SCRFD) in COLUMNS_OF_SCRFD


def _is_ssd(facts: OutputFacts) -> bool:
    pair = _pair_in(facts)
    return pair is not None and facts.is_decoded and facts.with_softmax[pair.scores]


def _is_detr(facts: OutputFacts) -> bool:
    """Return whether these are logits beside shares, by attention to whole pictures."""
    pair = _pair_in(facts)
    is_of_logits = pair is not None and facts.are_logits[pair.scores] and not facts.are_logits[pair.boxes]
    return is_of_logits and not facts.is_decoded and not facts.samples


def _is_rtdetr(facts: OutputFacts) -> bool:
    pair = _pair_in(facts)
    return pair is not None and facts.are_logits[pair.scores] and facts.samples


def _is_centres(facts: OutputFacts) -> bool:
    return _is_of_queries(facts) and facts.are_sigmoids and facts.samples


def _is_of_queries(facts: OutputFacts) -> bool:
    return _pair_in(facts) is not None or _table(facts)[1] > BOX


def _is_boxes(facts: OutputFacts) -> bool:
    pair = _pair_in(facts)
    return pair is not None and facts.is_decoded and not facts.are_logits[pair.scores]


LAYOUTS: Mapping[Decode, Callable[[OutputFacts], bool]] = {  # the first that fits counts
    "centres": _is_centres,
    "distances": _is_distances,
    "yolox": _is_yolox,
    "nanodet": _is_nanodet,
    "yolo": _is_yolo,
    "fastestdet": _is_fastestdet,
    "picodet": _is_picodet,
    "ultraface": _is_ultraface,
    "yunet": _is_yunet,
    "scrfd": _is_scrfd,
    "ssd": _is_ssd,
    "detr": _is_detr,
    "rtdetr": _is_rtdetr,
    "boxes": _is_boxes,
}
