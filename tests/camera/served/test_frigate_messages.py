"""Frigate's requests and answers, as values."""

import json
from typing import Any

import numpy as np
import pytest
import zmq
from hypothesis import given, strategies
from numpy.typing import NDArray

from edged.camera.served.frigate_messages import (
    HEADER,
    NOTHING,
    FrigatePicture,
    ModelQuery,
    ModelUpload,
    PixelScale,
    read_request,
    rows_of,
)
from edged.camera.served.refusals import RefusedRequestError
from edged.messages import Box
from edged.metrics.catalog import REFUSED

RANDOM = np.random.default_rng(5)
Numbers = NDArray[np.uint8] | NDArray[np.float32]


def parts(*contents: bytes) -> list[zmq.Frame]:
    return [zmq.Frame(content) for content in contents]


def header(numbers: Numbers, **changes: Any) -> bytes:
    fields = {"shape": list(numbers.shape), "dtype": numbers.dtype.name, "model_type": "yologeneric", **changes}
    return json.dumps(fields).encode()


def tensor(numbers: Numbers) -> FrigatePicture:
    request = read_request(parts(header(numbers), numbers.tobytes()))
    assert isinstance(request, FrigatePicture)
    return request


def picture(height: int = 4, width: int = 6) -> NDArray[np.uint8]:
    return RANDOM.integers(0, 256, (height, width, 3)).astype(np.uint8)


def refusal(*contents: bytes) -> str:
    with pytest.raises(RefusedRequestError) as error:
        read_request(parts(*contents))
    assert error.value.reason in REFUSED
    return error.value.reason


def box(score: float, corners: tuple[float, float, float, float] = (0.1, 0.2, 0.3, 0.4), index: int = 7) -> Box:
    return Box(label="dog", index=index, score=score, box=corners)


def test_pixels_come_through_both_layouts() -> None:
    pixels = picture()

    rows_last = tensor(pixels[None])
    planes = tensor(np.ascontiguousarray(pixels.transpose(2, 0, 1))[None])

    assert rows_last.size == planes.size == (4, 6)
    assert (PixelScale().pixels(rows_last) == pixels).all()
    assert (PixelScale().pixels(planes) == pixels).all()
    assert PixelScale().pixels(planes).flags.c_contiguous


@pytest.mark.parametrize("scale", [1.0, 255.0])
def test_floats_become_the_pixels_that_they_were(scale: float) -> None:
    pixels = picture()
    floats = (pixels / np.float32(255) * np.float32(scale)).astype(np.float32)

    assert (PixelScale().pixels(tensor(floats[None])) == pixels).all()


def test_the_first_picture_that_shows_the_scale_of_floats_decides() -> None:
    scale, dark = PixelScale(), np.zeros((1, 4, 6, 3), np.float32)
    dim = np.full_like(dark, 0.5)

    assert not scale.pixels(tensor(dark)).any()  # fits both
    assert (scale.pixels(tensor(np.full_like(dark, 200))) == 200).all()
    assert (scale.pixels(tensor(np.ones_like(dark))) == 1).all()
    other = PixelScale()
    assert (other.pixels(tensor(dim)) == 128).all()
    with pytest.raises(RefusedRequestError, match="from 0 to 1 as before, found 200"):
        other.pixels(tensor(np.full_like(dark, 200)))


@pytest.mark.parametrize("value", [np.nan, np.inf, -0.1, 256.0])
def test_floats_that_are_no_pixels_are_refused(value: float) -> None:
    numbers = np.full((1, 4, 6, 3), 0.5, np.float32)
    numbers[0, 1, 1, 1] = value

    with pytest.raises(RefusedRequestError) as error:
        PixelScale().pixels(tensor(numbers))

    assert error.value.reason == "values"


def test_requests_for_a_model_and_models_are_recognised() -> None:
    query = read_request(parts(b'{"model_request": true, "model_name": "net.onnx"}'))
    upload = read_request(parts(b'{"model_data": true, "model_name": "net.onnx"}', b"\x08"))

    assert query == ModelQuery("net.onnx")
    assert isinstance(upload, ModelUpload)


def test_a_request_that_lies_or_is_half_is_refused_with_its_reason() -> None:
    pixels = picture()[None]
    data = pixels.tobytes()

    assert refusal() == "parts"
    assert refusal(header(pixels)) == "parts"
    assert refusal(header(pixels), data, data) == "parts"
    assert refusal(b"", data) == "header"
    assert refusal(b"[1, 2]", data) == "header"
    assert refusal(b"[" * 4000, data) == "header"
    assert refusal(data * 100, data) == "header"
    assert refusal(header(pixels), data[:-1]) == "header"
    assert refusal(header(pixels, shape=[1, 2**70, 2**70, 3]), data) == "header"
    assert refusal(header(pixels, shape=[1, -4, -6, 3]), data) == "header"
    assert refusal(header(pixels, shape=[4, 6, 3]), data) == "header"
    assert refusal(header(pixels, shape=[1, 4, 6, 4]), data) == "header"
    assert refusal(header(pixels, shape="1463"), data) == "header"
    assert refusal(header(pixels, dtype="object"), data) == "dtype"
    assert refusal(header(pixels, dtype="float64"), data) == "dtype"


@given(strategies.lists(strategies.binary(max_size=64), max_size=4))
def test_no_message_does_more_than_be_refused(contents: list[bytes]) -> None:
    assert refusal(*contents)


def test_rows_are_sorted_by_score_with_zeros_after_them() -> None:
    rows = np.frombuffer(rows_of([box(0.5), box(0.9, (-0.1, 0.25, 1.5, 0.75))]), np.float32).reshape(20, 6)

    assert rows[0] == pytest.approx([7, 0.9, 0.25, 0.0, 0.75, 1.0])
    assert rows[1] == pytest.approx([7, 0.5, 0.2, 0.1, 0.4, 0.3])
    assert not rows[2:].any()


def test_the_best_twenty_boxes_are_sent() -> None:
    scores = RANDOM.permutation(30) / 30
    rows = np.frombuffer(rows_of([box(float(score)) for score in scores]), np.float32).reshape(20, 6)

    assert rows[:, 1] == pytest.approx(np.sort(scores)[::-1][:20])
    assert len(NOTHING) == 480
    assert json.loads(HEADER) == {"shape": [20, 6], "dtype": "float32"}
