"""How boxes follow from the outputs of a detector, as the config, its file, or the outputs themselves say."""

from collections.abc import Mapping, Sequence
from math import prod

from edged import config
from edged.detection.decoders import DECODERS
from edged.detection.detector import BoxLimits, Detector
from edged.detection.recognition import OutputFacts, are_beside_anchors, fits, recognised
from edged.errors import ModelError
from edged.messages.detection import Decode, DecodeKnownBy, Task
from edged.messages.preparation import RECIPES, Recipe
from edged.model.activations import SIGMOID
from edged.model.graph import (
    Activate,
    Add,
    Combine,
    Concat,
    Conv,
    Dense,
    Flatten,
    Graph,
    GridSample,
    Join,
    NetworkOutput,
    OnHost,
    Operator,
    Product,
    QuantizedAdd,
    QuantizedConv,
    QuantizedDense,
    Rearrange,
    Softmax,
    Unflatten,
)
from edged.model.metadata import Metadata
from edged.model.output_values import ON_HOST_UNCHANGED
from edged.model.prepare import DEFAULT
from edged.model.ultralytics import is_of_ultralytics, stated_task

Layout = tuple[Decode, DecodeKnownBy]

THRESHOLD = 0.4
WEIGHTED = (Conv, Dense, QuantizedConv, QuantizedDense)
ARITHMETIC = (Add, Combine, Product, QuantizedAdd)
CLASSIFIES = "supported is one score for each class"
DETECTS = "or the outputs of a detector, whose layouts docs/how-to/detect.md lists"


def task_of(settings: config.ModelConfig, file: Metadata, properties: Mapping[str, str]) -> Task | None:
    """Return what the network is for, as the config or the file says; None: nothing says.

    Raises ModelError for another task of an Ultralytics file.
    """
    return settings.task or file.task or stated_task(properties)


def recipe_of(layout: Layout | None, properties: Mapping[str, str]) -> Recipe:
    """Return the usual preparation of pictures: that of the layout, or for its own files Ultralytics' one.

    Ultralytics stretches the pictures of an RT-DETR.
    """
    if layout is None:
        return DEFAULT
    is_of_yolo = is_of_ultralytics(properties) and layout[0] != "centres"
    return RECIPES["yolo"] if is_of_yolo else DECODERS[layout[0]].recipe


def layout_of(
    graph: Graph, outputs: Sequence[NetworkOutput], task: Task | None, settings: config.ModelConfig, file: Metadata
) -> Layout | None:
    """Return the layout of a detector's outputs, and the source of this knowledge; None for a classifier.

    Raises ModelError for outputs that are neither, or that do not fit what the config or the file says.
    """
    wanted = settings.decode or file.decode or "auto"
    is_vector = all(prod(output.shape[1:]) == 1 for output in outputs) and len(outputs) < 2
    if task == "classify" or (task is None and wanted == "auto" and is_vector):
        if is_vector:
            return None
        raise ModelError(f"{_described(outputs)}; {CLASSIFIES}, {DETECTS}, with task: detect")
    facts = facts_of(graph, outputs)
    if wanted == "auto":
        if found := recognised(facts):
            return found, "network"
        if are_beside_anchors(facts):
            raise ModelError(
                f"{_described(outputs)}: boxes beside anchors, whose sizes are not in the file; for a YOLOv5 or a "
                "YOLOv7-tiny say decode: yolov5, for another YOLOv7 decode: yolov7"
            )
        raise ModelError(f"{_described(outputs)}; {CLASSIFIES}, {DETECTS}")
    if not fits(wanted, facts):
        raise ModelError(f"{_described(outputs)}, which does not fit decode: {wanted}; leave decode out")
    return wanted, "config" if settings.decode else "file"


def detector_of(
    layout: Layout,
    graph: Graph,
    outputs: Sequence[NetworkOutput],
    settings: config.ModelConfig,
    file: Metadata,
    labels: Sequence[str],
) -> Detector:
    """Return the detector with the thresholds and limits of the config, else those of the file.

    Raises ModelError for `scores`.
    """
    if settings.scores:
        raise ModelError(f"scores: {settings.scores} is for classification, and this is a detector: leave it out")
    threshold = THRESHOLD if settings.threshold is None else settings.threshold
    limits = BoxLimits(
        tuple(settings.thresholds.get(label, threshold) for label in labels),
        next(
            each
            for each in (settings.boxes.overlap, file.overlap, DECODERS[layout[0]].overlap)
            if each is not None
        ),
        settings.boxes.across,
        settings.boxes.most,
        settings.boxes.smallest,
        with_faint=settings.boxes.track,
    )
    _, height, width = graph.shapes[graph.input]
    return Detector(*layout, tuple(output.shape for output in outputs), (height, width), limits)


def facts_of(graph: Graph, outputs: Sequence[NetworkOutput]) -> OutputFacts:
    """Return what the operators say of the outputs."""
    writers = {operator.output: operator for operator in graph.operators}
    last = writers[graph.output]
    is_joined = isinstance(last, Concat) and len(last.inputs) == len(outputs) > 1
    endings = [_ending(writers, tensor) for tensor in (last.inputs if is_joined else (graph.output,))]
    _, height, width = graph.shapes[graph.input]
    return OutputFacts(
        shapes=tuple(output.shape for output in outputs),
        size=(height, width),
        is_decoded=any(_computes_numbers(operator) for ending in endings for operator in ending),
        with_softmax=tuple(any(isinstance(each, Softmax) for each in ending) for ending in endings),
        are_logits=tuple(not any(isinstance(each, Softmax | Activate) for each in ending) for ending in endings),
        samples=any(map(_samples, graph.operators)),
        are_sigmoids=_ends_in_sigmoid(writers, graph.output),
    )


def _ends_in_sigmoid(writers: Mapping[str, Operator], tensor: str) -> bool:
    """Return whether all values of a tensor are those of a sigmoid, in whatever order."""
    match writers.get(tensor):
        case Activate(activation=activation):
            return activation == SIGMOID
        case (Rearrange() | Concat() | Join() | Flatten() | Unflatten()) as mover:
            return all(_ends_in_sigmoid(writers, name) for name in mover.inputs)
    return False


def _samples(operator: Operator) -> bool:
    return isinstance(operator, GridSample) or (isinstance(operator, OnHost) and operator.kind == "GridSample")


def _ending(writers: Mapping[str, Operator], tensor: str) -> list[Operator]:
    """Return the operators between the last ones with weights and `tensor`."""
    found: list[Operator] = []
    seen, waiting = set[str](), [tensor]
    while waiting:
        operator = writers.get(name := waiting.pop())
        if operator is None or name in seen or (isinstance(operator, WEIGHTED) and not _is_by_channel(operator)):
            continue
        seen.add(name)
        found.append(operator)
        waiting += operator.inputs
    return found


def _computes_numbers(operator: Operator) -> bool:
    """Return whether an operator does arithmetic, rather than move values or apply one function to each."""
    if isinstance(operator, OnHost):
        return operator.kind not in ON_HOST_UNCHANGED
    return isinstance(operator, ARITHMETIC) or _is_by_channel(operator)


def _is_by_channel(operator: Operator) -> bool:
    """Return whether a convolution is no layer, but the product of each channel with a constant, and a sum."""
    return isinstance(operator, Conv) and operator.weight.size == len(operator.weight) == operator.groups


def _described(outputs: Sequence[NetworkOutput]) -> str:
    shapes = ", ".join(f"{output.name} {list(output.shape)}" for output in outputs)
    return f"the output is {shapes}" if len(outputs) == 1 else f"the network has {len(outputs)} outputs ({shapes})"
