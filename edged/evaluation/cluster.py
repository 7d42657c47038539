"""Evaluate labelled pictures on a Ray cluster: the answers of one machine, in the same order."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from edged.cluster.node import NO_ERROR, ClusterOptions, NodeOptions, error_columns, model_of_node
from edged.cluster.pool import map_on_actors
from edged.errors import DeviceError, EdgedError
from edged.evaluation.evaluate import Piece, evaluate, in_order, pieces_of
from edged.evaluation.figures import PictureAnswer
from edged.evaluation.pictures import LabelledPicture
from edged.model.model_part import whole_model
from edged.model.package import Model
from edged.runtime.base import ModelRuntime
from edged.runtime.proven import open_proven


class PictureActor:
    """Evaluates pieces of the pictures on one device of one node."""

    def __init__(self, options: NodeOptions) -> None:
        self._batch = options.worker.batch
        self._opened: tuple[Model, ModelRuntime] | None = None
        self._error: EdgedError = DeviceError("the device is closed")
        try:
            model = model_of_node(options)
            self._opened = model, open_proven(whole_model(model), options.worker).runtime
        except EdgedError as error:
            self._error = error

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[Any]]:
        """Evaluate the `pictures` of one piece; return its `index`, the answers as JSON, and the device."""
        index = int(batch["index"][0])
        try:
            device, answers = self._evaluated(batch["pictures"][0])
        except EdgedError as error:
            return {"index": [index], "answers": [""], "device": [""], **error_columns(error)}
        return {"index": [index], "answers": [answers], "device": [device], **NO_ERROR}

    def _evaluated(self, pictures: Sequence[LabelledPicture]) -> tuple[str, str]:
        if self._opened is None:
            raise self._error
        model, runtime = self._opened
        answers = [each for job in evaluate(model, runtime, pictures, self._batch) for each in job]
        return runtime.device_name, msgspec.json.encode(answers).decode()


class ClusterEvaluation:
    """An evaluation by the devices of a cluster."""

    def __init__(self, cluster: ClusterOptions, options: NodeOptions) -> None:
        self._cluster, self._options = cluster, options
        self._devices: set[str] = set()

    @property
    def device(self) -> str:
        """Name the kinds of devices that have answered."""
        return f"{', '.join(sorted(self._devices))} (Ray)"

    @property
    def key(self) -> list[object]:
        """Return what the answers depend on, beside the model, the plan and the pictures."""
        return ["ray", self._cluster.address, self._options.worker.device]

    def answers(self, pictures: Sequence[LabelledPicture]) -> Iterator[list[PictureAnswer]]:
        """Yield the answers of each piece, in order. Raises what `map_on_actors` does."""
        divided = dict(pieces_of(pictures, self._options.worker.batch))
        return in_order(self._answered(divided), list(divided))

    def _answered(self, pieces: Mapping[int, Piece]) -> Iterator[tuple[int, list[PictureAnswer]]]:
        rows = [{"index": index, "pictures": piece} for index, piece in pieces.items()]
        for row in map_on_actors(self._cluster, PictureActor, self._options, rows):
            self._devices.add(row["device"])
            yield row["index"], msgspec.json.decode(row["answers"], type=list[PictureAnswer])
