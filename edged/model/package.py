"""A model with everything needed to use it: its graph, its labels, and the description of its input."""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from edged import config
from edged.detection.decoders import DECODERS
from edged.detection.detector import Detector
from edged.errors import ModelError
from edged.messages.preparation import PreparedBy, Recipe, Resize, description
from edged.messages.scores import ScoresKnownBy, ScoresWanted
from edged.model.cost import weights_sha256
from edged.model.detector import Layout, detector_of, layout_of, recipe_of, task_of
from edged.model.graph import Graph, NetworkOutput, OnHost, Pair
from edged.model.graph_cache import KeptGraph, KeptGraphs, graph_key
from edged.model.label_file import labels_of_properties, read_labels
from edged.model.metadata import PREFIX, Metadata, decode
from edged.model.model_file import content_sha256, model_stem
from edged.model.passes import simplify
from edged.model.prepare import CHANNELS, DEFAULT, prepared_by, recipe_for
from edged.model.resnet import MIN_SIZE
from edged.model.ultralytics import stated_preparation
from edged.model.zoo import NETWORKS
from edged.system.paths import cache_directory
from edged.system.plain_text import counted, plain

if TYPE_CHECKING:
    from edged.model.from_onnx.file import OnnxFile

BUNDLED = ("digits",)
RANDOM = tuple(NETWORKS)
RANDOM_SIZE = (224, 224)
THRESHOLD = 0.5

log = logging.getLogger(__name__)

Labels = tuple[str, ...]


@dataclass(frozen=True)
class Input:
    """The network's input: input = (pixel × scale − mean) ÷ std, pixel in 0 … 255, by channel.

    `resize`: how a picture takes that width and height. `mean` and `std` are in the model's channel order,
    `color`, one number each where that is gray; frames always travel as RGB (a gray network receives
    `reference.luma` of them).
    """

    width: int
    height: int
    color: config.Color
    scale: float
    mean: tuple[float, ...]
    std: tuple[float, ...]
    resize: Resize = "stretch"

    @property
    def channels(self) -> int:
        return CHANNELS[self.color]

    @property
    def described(self) -> str:
        """Describe the preparation of pictures, for people."""
        recipe = Recipe(self.resize, self.color, self.scale, self.mean, self.std)
        return description(recipe, self.width, self.height)


@dataclass(frozen=True)
class WantedScores:
    """What the config or the file, `source`, says of the outputs; `auto`: nothing. See `model.scores`.

    threshold: of independent scores, where `by_label` has no other; None: nothing says.
    """

    kind: ScoresWanted = "auto"
    source: ScoresKnownBy = "network"
    threshold: float | None = None
    by_label: Mapping[str, float] = field(default_factory=dict)

    def threshold_of(self, label: str) -> float:
        """Return the score from which an independent label is there."""
        return self.by_label.get(label, THRESHOLD if self.threshold is None else self.threshold)


@dataclass(frozen=True, eq=False)
class Model:
    """`sha256` is that of the model file (of the weights for a random model). `labels` by class index.

    `random_weights` marks the named networks that are for timing only, which every output must mention.
    `prepared_by`: the source of the values of `input`. `contradictions`: see `from_onnx.declared`.
    `detector`: None for a classifier.
    """

    name: str
    sha256: str
    labels: tuple[str, ...]
    graph: Graph
    input: Input
    random_weights: bool = False
    prepared_by: PreparedBy = "file"
    scores: WantedScores = WantedScores()
    contradictions: tuple[str, ...] = ()
    detector: Detector | None = None

    @property
    def has_labels(self) -> bool:
        """Return whether its classes have names, not only numbers."""
        return self.labels != numbered(len(self.labels))

    @property
    def doubt(self) -> str:
        """Say in one sentence where the file contradicts itself; empty if nowhere."""
        if not self.contradictions:
            return ""
        first, *others = self.contradictions
        more = f" (and {len(others)} more of its tensors)" if others else ""
        return (
            f"{first}{more}: the shapes that nodes write count; if the answers are wrong, export the network again"
        )


def load_model(settings: config.ModelConfig, *, lazily: bool = False) -> Model:
    """Return the model that a config names, simplified. The config takes precedence over the file.

    lazily: leave weights that a former start has kept on disk unread; read them from `graph.checked()` alone.
    Raises ModelError.
    """
    model = _load(settings)
    return model if lazily else replace(model, graph=model.graph.checked())


def is_file_name(model: str) -> bool:
    """Check whether this is the name of a file, not of a model: it has a suffix or a folder, or exists."""
    return "/" in model or "." in model or Path(model).is_file()


def _load(settings: config.ModelConfig) -> Model:
    if settings.path is not None:
        return _from_file(settings.path, settings)
    if settings.name in RANDOM:
        return _random(settings.name, settings)
    if settings.name in BUNDLED:
        return _from_file(_bundled_file(settings.name), settings)
    if settings.name and is_file_name(settings.name):
        raise ModelError(f"there is no model {settings.name}: give a file by path: {settings.name}, without name")
    problem = "no model is given" if settings.name is None else f"there is no model {settings.name}"
    raise ModelError(f"{problem}: name one of {', '.join(BUNDLED + RANDOM)}, or give the path of an ONNX file")


def _bundled_file(name: str) -> Path:
    path = Path(str(resources.files("edged.model") / "bundled" / f"{name}.onnx"))
    if not path.is_file():
        raise ModelError(
            f"the bundled model {name} is missing from this installation ({path}): install edged again"
        )
    return path


def model_path(settings: config.ModelConfig) -> Path:
    """Return the file of a model that `load_model` has loaded, which has no random weights."""
    return settings.path or _bundled_file(str(settings.name))


def read_model(settings: config.ModelConfig) -> tuple[Model, frozenset[Path]]:
    """Load the model of `wanted.path` without caching; also return the folders with weights in other files.

    Raises ModelError.
    """
    assert settings.path, "a file"  # noqa: S101
    file, kept = _read_onnx(settings.path, _size(settings))
    return _packed(settings.path, settings, file.sha256, kept), file.data_folders


def _from_file(path: Path, settings: config.ModelConfig) -> Model:
    return _packed(path, settings, *_read(path, _size(settings)))


def _packed(path: Path, settings: config.ModelConfig, sha256: str, kept: KeptGraph) -> Model:
    graph = kept.graph
    _report_host(path, graph, strict=settings.strict)
    try:
        metadata = decode(kept.metadata)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None
    given = partial(_given_labels, settings, metadata, kept.metadata, path)
    try:
        layout = layout_of(graph, kept.outputs, task_of(settings, metadata, kept.metadata), settings, metadata)
        model_input = _input(graph, settings, metadata, recipe_of(layout, kept.metadata))
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None
    scores = _wanted_scores(settings, metadata)
    labels = _boxes_labels(layout, kept.outputs, given) if layout else _labels(graph, scores, given)
    _require_known(settings.thresholds, labels, path)
    return Model(
        name=metadata.name or plain(model_stem(path)),
        sha256=sha256,
        labels=labels,
        graph=graph,
        input=model_input,
        prepared_by=prepared_by(settings, metadata, "layout" if layout else "default"),
        scores=scores,
        contradictions=kept.contradictions,
        detector=detector_of(layout, graph, kept.outputs, settings, metadata, labels) if layout else None,
    )


def _report_host(path: Path, graph: Graph, *, strict: bool) -> None:
    """Log which operators the host computes, since no kernel does. Raises ModelError if that is excluded."""
    found = [f"{operator.name} ({operator.kind})" for operator in graph.operators if isinstance(operator, OnHost)]
    if not found:
        return
    named = ", ".join(found[:5]) + (f" and {len(found) - 5} more" if len(found) > 5 else "")
    if strict:
        raise ModelError(
            f"{path}: no kernel computes {named}, and strict is set: leave strict out to use the host for them"
        )
    log.warning("%s: no kernel computes %s; the host does, which is slower", path, named)


def _read(path: Path, size: Pair | None) -> tuple[str, KeptGraph]:
    """Return the file's SHA-256 and its graph, cached so that the next start needs no `onnx`.

    A model whose weights are in other files is read again each time.
    """
    sha256 = content_sha256(path)
    graphs, key = KeptGraphs(cache_directory() / "graphs"), graph_key(sha256, model_stem(path), size)

    def read_and_keep() -> tuple[str, KeptGraph]:
        file, fresh = _read_onnx(path, size)
        if not file.external:
            graphs.save(key, fresh)
        return file.sha256, fresh

    kept = graphs.load(key, lambda: read_and_keep()[1].graph)
    return (sha256, kept) if kept else read_and_keep()


def _read_onnx(path: Path, size: Pair | None) -> "tuple[OnnxFile, KeptGraph]":
    from edged.model.from_onnx.ends import takes_bytes
    from edged.model.from_onnx.file import read_file
    from edged.model.from_onnx.normalized_input import normalizes_shares
    from edged.model.onnx_reader import read_network

    file = read_file(path)
    network = read_network(file, size)
    of_bytes = {f"{PREFIX}preprocess": "raw"} if takes_bytes(file) else {}
    of_shares = {f"{PREFIX}preprocess": "unit"} if normalizes_shares(file.model.graph) else {}
    try:
        graph = simplify(network.graph)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None
    metadata = stated_preparation(file.metadata) | of_shares | of_bytes | dict(file.metadata)
    return file, KeptGraph(graph, metadata, network.contradictions, network.outputs)


def _random(name: str, settings: config.ModelConfig) -> Model:
    width, height = _size(settings) or RANDOM_SIZE
    if min(width, height) < MIN_SIZE:
        raise ModelError(f"{name}: size {width}×{height} is too small: at least {MIN_SIZE} pixels a side")
    try:
        graph = simplify(NETWORKS[name](width, height))
    except ModelError as error:
        raise ModelError(f"{name} at {width}×{height}: {error}") from None
    if settings.task == "detect" or settings.decode:
        raise ModelError(
            f"{name} gives scores of classes, not boxes: leave task and decode out, or give an ONNX file"
        )
    scores = _wanted_scores(settings, Metadata())
    labels = _labels(graph, scores, partial(_given_labels, settings, Metadata(), {}, Path(name)))
    _require_known(settings.thresholds, labels, Path(name))
    return Model(
        name=name,
        sha256=weights_sha256(graph),
        labels=labels,
        graph=graph,
        input=_input(graph, settings, Metadata()),
        random_weights=True,
        scores=scores,
    )


def _size(settings: config.ModelConfig) -> tuple[int, int] | None:
    """Return width and height of the config, or None."""
    return (settings.size, settings.size) if isinstance(settings.size, int) else settings.size


def _input(graph: Graph, settings: config.ModelConfig, metadata: Metadata, usual: Recipe = DEFAULT) -> Input:
    """Merge the input's description. Raises ModelError if it does not fit the network's channels."""
    channels, height, width = graph.shapes[graph.input]
    recipe = recipe_for(channels, settings, metadata, usual)
    assert recipe.color, "settled by the number of channels"  # noqa: S101
    return Input(width, height, recipe.color, recipe.scale, recipe.mean, recipe.std, recipe.resize)


def _wanted_scores(settings: config.ModelConfig, metadata: Metadata) -> WantedScores:
    """Return what the config says of the outputs, else what the file says."""
    kind = settings.scores or metadata.scores or "auto"
    source: ScoresKnownBy = "config" if settings.scores else "file"
    return WantedScores(kind, source, settings.threshold, settings.thresholds)


def _labels(graph: Graph, scores: WantedScores, given: Callable[[int], Labels | None]) -> Labels:
    """Return a label for each output, two for a single one that is not independent. `given`: `_given_labels`."""
    outputs = graph.shapes[graph.output][0]
    is_binary = outputs == 1 and scores.kind != "independent"
    return _two_labels(given) if is_binary else given(outputs) or numbered(outputs)


def _boxes_labels(
    layout: Layout, outputs: Sequence[NetworkOutput], given: Callable[[int], Labels | None]
) -> Labels:
    """Return a label for each class of a detector. `given`: `_given_labels`."""
    decoder = DECODERS[layout[0]]
    classes = decoder.classes([output.shape for output in outputs])
    return given(classes) or decoder.labels or numbered(classes)


def _require_known(thresholds: Mapping[str, float], labels: Labels, path: Path) -> None:
    if unknown := [label for label in thresholds if label not in labels]:
        raise ModelError(
            f"{path}: thresholds has {unknown[0]!r}, which is none of its labels: {', '.join(labels)}"
        )


def _two_labels(given: Callable[[int], Labels | None]) -> Labels:
    """Return both labels of one output, of which only the second, NAME, may be given: `not NAME` is the first."""
    try:
        return given(2) or numbered(2)
    except ModelError:
        with suppress(ModelError):
            (label,) = given(1) or ()
            return f"not {label}", label
        raise


def _given_labels(
    settings: config.ModelConfig, file: Metadata, properties: Mapping[str, str], path: Path, classes: int
) -> Labels | None:
    """Return the labels of the config, else of the file; None without any. Raises ModelError."""
    if settings.labels is not None:
        return read_labels(settings.labels, classes)
    if file.labels is None:
        return labels_of_properties(properties, classes, path)
    if len(file.labels) != classes:
        raise ModelError(
            f"{path}: its metadata has {counted(len(file.labels), 'label')} for {counted(classes, 'class')}"
        )
    return file.labels


def numbered(classes: int) -> tuple[str, ...]:
    """Return the labels of a model that has none: 0, 1, 2 …"""
    return tuple(map(str, range(classes)))
