"""Classify pictures, or find objects in them, in a Python program, prepared and computed as the daemon does it."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from math import prod
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, ParamSpec, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from edged import config
from edged.errors import ConfigError, EdgedError, ImageError, ModelError
from edged.messages import Box, Label, boxes_of, labels_of
from edged.messages.preparation import IN_PYTHON, default_warning
from edged.model.model_part import whole_model
from edged.model.package import Model, is_file_name, load_model
from edged.model.preparation_file import with_file_read
from edged.model.scores import score_rule
from edged.pictures.decode import read_picture
from edged.pictures.prepare import placement, prepare
from edged.runtime.jobs import compute, not_finite
from edged.runtime.proven import open_proven
from edged.runtime.scored import scores_of
from edged.system.plain_text import counted

Given = ParamSpec("Given")
Result = TypeVar("Result")
READ_BY_NUMPY = {"__array__", "__array_interface__"}
CALLER = 4  # stack level of a warning: the line that opens the model, from `_loaded`


class AsArray(Protocol):
    """What NumPy reads as an array: a tensor of PyTorch on the CPU."""

    def __array__(self) -> NDArray[Any]: ...


class WithInterface(Protocol):
    """What NumPy reads as an array, too: a picture of PIL."""

    @property
    def __array_interface__(self) -> Mapping[str, Any]: ...


Picture = NDArray[np.uint8] | AsArray | WithInterface | str | PathLike[str]
Pixels = NDArray[np.uint8]
Floats = NDArray[np.float32]
S = TypeVar("S", bound=config.Section)


def without_inner_frames(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Wrap a function: an EdgedError of it shows the caller's line and the message, not the way through edged."""

    @wraps(function)
    def shortened(*arguments: Given.args, **keys: Given.kwargs) -> Result:
        try:
            return function(*arguments, **keys)
        except EdgedError as error:
            raise error.with_traceback(None) from None

    return shortened


class ReadyModel:
    """A network that is ready on a device: `edged.Model` in Python programs. Use it in one thread at a time.

    Of a classifier a call returns scores; of a detector `boxes` returns what it finds.

    >>> with edged.Model("net.onnx", labels="labels.txt", preprocess="imagenet") as model:
    ...     scores = model(picture)
    ...     print(model.top(scores, 3))
    """

    @without_inner_frames
    def __init__(
        self,
        model: str | PathLike[str] | Model,
        device: str = "auto",
        *,
        batch: int = 1,
        precision: config.Precision = "fp32",
        threads: int | None = None,
        **preparation: Any,
    ) -> None:
        """Load an ONNX file, or a named model, and compare the device with the reference, once for each network.

        device, batch, precision, threads: as of a worker in the config. preparation: keys of the config's `model`,
        such as `labels`, `preprocess` (also a `preprocessor_config.json`), `size`, `scores`. Warns if nothing says
        how pictures are prepared, or only the network's answers say what its scores are.

        Raises ConfigError, ModelError, DeviceError.
        """
        keys = {"device": device, "batch": batch, "precision": precision, "threads": threads}
        worker = _section(config.WorkerConfig, keys)
        self._model = model if isinstance(model, Model) else _loaded(model, preparation)
        if not self._model.detector:
            score_rule(self._model)  # a threshold without use is reported here
        self._runtime = open_proven(whole_model(self._model), worker).runtime
        self._batch = batch

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the names of the classes."""
        return self._model.labels

    @property
    def input_size(self) -> tuple[int, int]:
        """Return width and height of the network's input."""
        return self._model.input.width, self._model.input.height

    @property
    def device(self) -> str:
        """Return the name of the device."""
        return self._runtime.device_name

    @property
    def is_detector(self) -> bool:
        """Return whether `boxes` returns what it finds; else a call returns scores."""
        return self._model.detector is not None

    def __repr__(self) -> str:
        width, height = self.input_size
        name = self._model.name
        return f"<edged.Model {name}: {width}×{height}, {counted(len(self.labels), 'label')}, on {self.device}>"

    @without_inner_frames
    def __call__(self, pictures: Picture | Sequence[Picture]) -> Floats:
        """Return the scores of a picture, float32 [outputs], or of several, [n, outputs], as in predictions.

        An output is a label; a network with one output that is not independent has two, of which the second has
        this score, and the first the remainder of 1.

        A picture: uint8 RGB [height, width, 3], or gray [height, width], of any size, a file's path, a picture of
        PIL, or what else NumPy reads as such an array. Several: a sequence of these, or uint8
        [n, height, width, 3]. Raises ImageError, DeviceError, and ModelError if the
        network's outputs are not finite.
        """
        outputs = self.outputs(pictures)
        if outputs.ndim == 1:
            return self.scores(outputs)
        return np.array([self.scores(row) for row in outputs], np.float32).reshape(outputs.shape)

    @without_inner_frames
    def outputs(self, pictures: Picture | Sequence[Picture]) -> Floats:
        """Return the network's own outputs of a picture, float32 [outputs], or of several, [n, outputs].

        Pictures are those of a call. Raises ImageError, DeviceError.
        """
        pictures = _pixels_of(pictures)
        # a path, or an array of two or three axes, whatever their sizes
        is_one = isinstance(pictures, str | PathLike) or (isinstance(pictures, np.ndarray) and pictures.ndim < 4)
        several: Sequence[Picture] = [pictures] if is_one else pictures  # type: ignore[assignment, list-item]
        jobs = compute(self._runtime, map(self._frame, several), self._batch)
        rows = [outputs for job in jobs for outputs in job]
        if is_one:
            return np.asarray(rows[0], np.float32)
        return np.stack(rows) if rows else np.empty((0, self._outputs), np.float32)

    @without_inner_frames
    def scores(self, outputs: Floats) -> Floats:
        """Return the scores of one picture's outputs, [outputs]. Raises ModelError if these are not finite."""
        found = scores_of(outputs, score_rule(self._model))
        if found.scores is None:
            raise ModelError(found.problem)
        return found.scores

    def top(self, scores: Floats, count: int = 5) -> tuple[Label, ...]:
        """Return the best classes of one picture's scores, best first: `label`, `index` and `score` of each.

        Of independent scores: all labels that reach their thresholds, possibly none.
        """
        return labels_of(score_rule(self._model).best(scores, count), self.labels)

    @without_inner_frames
    def boxes(self, picture: Picture) -> tuple[Box, ...]:
        """Return the objects in a picture, best first: `label`, `index`, `score` and `box` of each.

        A picture is that of a call. Raises ImageError, DeviceError, and ModelError for a classifier, or if the
        network's outputs are not finite.
        """
        pixels = self._pixels(picture)
        return self.boxes_in(self.outputs(pixels), pixels.shape[1], pixels.shape[0])

    @without_inner_frames
    def boxes_in(self, outputs: Floats, width: int, height: int) -> tuple[Box, ...]:
        """Return what `boxes` does for the outputs of one picture of `width` × `height` pixels."""
        if self._model.detector is None:
            raise ModelError(f"{self._model.name} is a classifier: it gives scores, no boxes")
        if problem := not_finite(outputs):
            raise ModelError(problem)
        found = self._model.detector.boxes(outputs, placement(width, height, self._model.input))
        return boxes_of(found, self.labels)

    def close(self) -> None:
        """Free the device. Repeated calls do nothing."""
        self._runtime.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def _outputs(self) -> int:
        graph = self._model.graph
        return prod(graph.shapes[graph.output])

    def _frame(self, picture: Picture) -> Pixels:
        return prepare(self._pixels(picture), self._model.input)

    def _pixels(self, picture: Picture) -> Pixels:
        return read_picture(Path(picture)) if isinstance(picture, str | PathLike) else _rgb(_pixels_of(picture))


def _pixels_of(pictures: Any) -> Any:
    """Return what is neither a path nor a list as a NumPy array, if NumPy reads it so. Raises ImageError."""
    if isinstance(pictures, np.ndarray) or not READ_BY_NUMPY & set(dir(pictures)):
        return pictures
    if getattr(pictures, "mode", "RGB") not in {"RGB", "L"} and hasattr(pictures, "convert"):
        pictures = pictures.convert("RGB")  # of PIL: a palette's numbers are no colours
    try:
        return np.asarray(pictures)
    except (TypeError, ValueError, RuntimeError) as error:  # a tensor on a GPU, for one
        raise ImageError(f"a picture of type {type(pictures).__name__} cannot be read: {error}") from None


def _rgb(picture: object) -> Pixels:
    """Return a picture as uint8 [height, width, 3]; a gray one has three equal channels. Raises ImageError."""
    if not isinstance(picture, np.ndarray):
        expected = "expected a NumPy array (numpy.asarray makes one of most), or a path"
        raise ImageError(f"a picture is of type {type(picture).__name__}: {expected}")
    is_gray = picture.ndim == 2 or (picture.ndim == 3 and picture.shape[2] == 1)
    is_color = picture.ndim == 3 and picture.shape[2] == 3
    if picture.dtype != np.uint8 or not picture.size or not (is_gray or is_color):
        expected = "expected uint8 [height, width, 3] in RGB order, or [height, width]"
        raise ImageError(f"a picture is {picture.dtype} {list(picture.shape)}: {expected}{_hint(picture)}")
    return np.repeat(picture.reshape(*picture.shape[:2], 1), 3, axis=2) if is_gray else picture


def _hint(picture: NDArray[Any]) -> str:
    """Say what an array of three axes may have been meant to be."""
    if picture.ndim != 3:
        return ""
    if picture.shape[0] in {1, 3}:
        return "; transpose(1, 2, 0) moves the channels to the end"
    return "; several gray pictures are a list, or [n, height, width, 1]"


def _loaded(model: str | PathLike[str], preparation: Mapping[str, Any]) -> Model:
    """Load a model. Raises ConfigError, ModelError."""
    name = str(model)
    source = "path" if is_file_name(name) else "name"
    loaded = load_model(_section(config.ModelConfig, {source: name, **with_file_read(preparation)}))
    if loaded.prepared_by == "default" and not loaded.random_weights:
        warnings.warn(default_warning(loaded.input.described, IN_PYTHON), stacklevel=CALLER)
    if not loaded.detector and (rule := score_rule(loaded)).known_by == "answers":
        warnings.warn(f"{loaded.name}: scores are {rule.described}; scores='…' says otherwise", stacklevel=CALLER)
    return loaded


def _section(section: type[S], keys: Mapping[str, Any]) -> S:
    """Build a section of the config. Raises ConfigError, which names the arguments."""
    try:
        return section(**keys)
    except ValidationError as error:
        problems = [f"{'.'.join(map(str, each['loc'])) or 'model'}: {each['msg']}" for each in error.errors()]
        raise ConfigError("; ".join(problems)) from None
