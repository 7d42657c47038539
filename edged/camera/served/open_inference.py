"""The Open Inference Protocol, version 2, as values: what edged's tensors mean, requests, and answers.

The input is one picture:
    image    UINT8 [1, height, width, 3]   RGB, of any size: edged fits it to the network as it does a camera's
The outputs of a detector, the best box first:
    boxes    FP32 [n, 4]    left, top, right, bottom in pixels of the picture
    scores   FP32 [n]
    labels   BYTES [n]      UTF-8
Those of a classifier are `scores` and `labels` alone: of the best labels, `publish.top` of them.

A tensor is JSON, or follows the JSON as bytes in little-endian order (the binary tensor data extension):
`Inference-Header-Content-Length`, a header, says where the JSON ends. Each element of BYTES follows its length, a
uint32.
"""

import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from edged import __version__
from edged.camera.served.refusals import RefusedRequestError
from edged.camera.served.sent_pictures import AnsweredPicture, SentPicture
from edged.messages import ServedModel
from edged.messages.message import INVALID_JSON, Content
from edged.pictures.prepare import Pixels

INPUT, DATATYPE = "image", "UINT8"
SHAPE = "[1, height, width, 3]"
JSON_LENGTH = "Inference-Header-Content-Length"
OUTPUTS: Mapping[str, tuple[str, list[int]]] = {  # datatype and shape
    "boxes": ("FP32", [-1, 4]),
    "scores": ("FP32", [-1]),
    "labels": ("BYTES", [-1]),
}

Side = Annotated[int, Meta(ge=0, le=2**32)]
Values = NDArray[np.float32] | list[str]


class _InputParameters(Content, frozen=True):
    binary_data_size: Annotated[int, Meta(ge=0)] | None = None


class _Input(Content, frozen=True):
    name: str
    shape: tuple[Side, ...]
    datatype: str
    parameters: _InputParameters = _InputParameters()
    data: Any = None


class _OutputParameters(Content, frozen=True):
    binary_data: bool | None = None


class _Output(Content, frozen=True):
    name: str
    parameters: _OutputParameters = _OutputParameters()


class _Parameters(Content, frozen=True):
    binary_data_output: bool = False


class _Inference(Content, frozen=True):
    inputs: tuple[_Input, ...]
    outputs: tuple[_Output, ...] = ()
    id: str | None = None
    parameters: _Parameters = _Parameters()


@dataclass(frozen=True, eq=False)
class InferenceRequest:
    """A picture, and for each output that its sender wants, whether as bytes. `id`: the sender's."""

    picture: SentPicture
    outputs: Mapping[str, bool]
    id: str | None = None


def server_metadata() -> dict[str, Any]:
    """Return what `GET /v2` says."""
    return {"name": "edged", "version": __version__, "extensions": ["binary_tensor_data"]}


def model_metadata(model: ServedModel) -> dict[str, Any]:
    """Return what `GET /v2/models/NAME` says."""
    return {
        "name": model.name,
        "versions": [model.sha256],
        "platform": "edged",
        "inputs": [{"name": INPUT, "datatype": DATATYPE, "shape": [1, -1, -1, 3]}],
        "outputs": [
            {"name": name, "datatype": OUTPUTS[name][0], "shape": OUTPUTS[name][1]} for name in outputs_of(model)
        ],
    }


def outputs_of(model: ServedModel) -> list[str]:
    """Return the names of the outputs that a model has."""
    return [name for name in OUTPUTS if model.task == "detect" or name != "boxes"]


def read_inference(body: bytes, json_length: str | None, model: ServedModel) -> InferenceRequest:
    """Return the request in a body. `json_length`: the header `JSON_LENGTH`. Raises RefusedRequestError."""
    text, data = _split(body, json_length)
    try:
        inference = msgspec.json.decode(text, type=_Inference)
    except INVALID_JSON as error:
        raise _refusal(f"expected JSON with `inputs`: {error}") from None
    if len(inference.inputs) != 1 or inference.inputs[0].name != INPUT:
        found = [each.name[:20] for each in inference.inputs[:8]]
        raise _refusal(f"expected one input, {INPUT}, found {found}")
    return InferenceRequest(
        _pixels(inference.inputs[0], data), dict(_wanted_outputs(inference, model)), inference.id
    )


def _split(body: bytes, json_length: str | None) -> tuple[bytes, bytes]:
    if json_length is None:
        return body, b""
    if not (json_length.isascii() and json_length.isdecimal() and len(json_length) < 12):
        raise _refusal(f"expected a number of bytes in {JSON_LENGTH}, found {json_length[:20]!r}")
    length = int(json_length)
    if length > len(body):
        raise _refusal(f"{JSON_LENGTH} is {length}, but the body has {len(body)} bytes")
    return body[:length], body[length:]


def _pixels(tensor: _Input, data: bytes) -> Pixels:
    """Return the input as uint8 [height, width, 3]. Raises RefusedRequestError."""
    if tensor.datatype != DATATYPE:
        raise RefusedRequestError("dtype", f"expected datatype {DATATYPE}, found {tensor.datatype[:20]!r}")
    shape = tensor.shape
    if len(shape) != 4 or shape[0] != 1 or shape[3] != 3 or min(shape) < 1:
        raise _refusal(f"expected shape {SHAPE}, found {list(shape[:8])}")
    size = tensor.parameters.binary_data_size
    values = _of_json(tensor.data) if size is None else _of_bytes(data, size)
    if values.size != prod(shape):
        raise _refusal(f"shape {list(shape)} has {prod(shape)} numbers, but {values.size} came: nothing was read")
    return values.reshape(shape[1:])


def _of_bytes(data: bytes, size: int) -> Pixels:
    if size != len(data):
        raise _refusal(f"binary_data_size is {size}, but {len(data)} bytes follow the JSON: nothing was read")
    return np.frombuffer(data, np.uint8)


def _of_json(data: Any) -> Pixels:
    """Return the numbers of lists, flat or nested, as uint8. Raises RefusedRequestError."""
    try:
        values = np.asarray([] if data is None else data)
    except (ValueError, RecursionError, OverflowError):  # lists of different lengths
        values = np.array(["ragged"])
    if values.size and (values.dtype.kind not in "iu" or values.min() < 0 or values.max() > 255):
        raise RefusedRequestError("values", "expected whole numbers from 0 to 255 in `data`")
    return values.astype(np.uint8)


def _wanted_outputs(inference: _Inference, model: ServedModel) -> Iterator[tuple[str, bool]]:
    """Yield the name of each wanted output, all by default, and whether it is sent as bytes."""
    known, usual = outputs_of(model), inference.parameters.binary_data_output
    for output in inference.outputs or [_Output(name=name) for name in known]:
        if output.name not in known:
            raise _refusal(f"expected outputs of {', '.join(known)}, found {output.name[:20]!r}")
        chosen = output.parameters.binary_data
        yield output.name, usual if chosen is None else chosen


def inference_answer(
    request: InferenceRequest, model: ServedModel, found: AnsweredPicture
) -> tuple[bytes, dict[str, str]]:
    """Return the body of the answer, and its headers."""
    outputs, parts = [], []
    for name, values in _values(found, request.outputs):
        output: dict[str, Any] = {"name": name, "datatype": OUTPUTS[name][0], "shape": list(np.shape(values))}
        if request.outputs[name]:
            parts.append(_as_bytes(values))
            output["parameters"] = {"binary_data_size": len(parts[-1])}
        else:
            output["data"] = values if isinstance(values, list) else values.ravel().tolist()
        outputs.append(output)
    described = {"model_name": model.name, "model_version": model.sha256, "outputs": outputs}
    text = msgspec.json.encode(described if request.id is None else {**described, "id": request.id})
    if not parts:
        return text, {"Content-Type": "application/json"}
    return b"".join([text, *parts]), {"Content-Type": "application/octet-stream", JSON_LENGTH: str(len(text))}


def _values(found: AnsweredPicture, wanted: Iterable[str]) -> Iterator[tuple[str, Values]]:
    answer = found.answer
    best = answer.top if answer.boxes is None else answer.boxes
    for name in wanted:
        if name == "labels":
            yield name, [each.label for each in best]
        elif name == "scores":
            yield name, np.array([each.score for each in best], np.float32)
        else:
            boxes = [found.pixels(box) for box in answer.boxes or ()]
            yield name, np.array(boxes, np.float32).reshape(-1, 4)


def _as_bytes(values: Values) -> bytes:
    if isinstance(values, list):
        texts = [text.encode() for text in values]
        return b"".join(struct.pack("<I", len(text)) + text for text in texts)
    return values.astype("<f4").tobytes()


def _refusal(text: str) -> RefusedRequestError:
    return RefusedRequestError("header", text)
