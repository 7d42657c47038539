"""The Open Inference Protocol as values: requests and answers, in JSON and with binary tensors."""

import json
import struct
from typing import Any

import numpy as np
import pytest

from edged.camera.served.open_inference import inference_answer, model_metadata, read_inference
from edged.camera.served.refusals import RefusedRequestError
from edged.camera.served.sent_pictures import AnsweredPicture
from edged.messages import Box, FrameAnswer, Label, ServedModel

MODEL = ServedModel(name="net", sha256="0" * 64, labels=("cat", "dög"), task="detect", ready=True)
CLASSIFIER = ServedModel(name="net", sha256="0" * 64, labels=("cat", "dög"), task="classify", ready=True)
PICTURE = np.arange(12, dtype=np.uint8).reshape(1, 2, 2, 3)
BOX = Box(label="dög", index=1, score=0.5, box=(0.25, 0.5, 0.75, 1.0))
FOUND = AnsweredPicture(FrameAnswer(frame=0, captured_at=0.0, boxes=(BOX,)), width=200, height=100)
NOTHING = AnsweredPicture(FrameAnswer(frame=0, captured_at=0.0, boxes=()), width=200, height=100)


def tensor(**changes: Any) -> dict[str, Any]:
    return {
        "name": "image",
        "shape": [1, 2, 2, 3],
        "datatype": "UINT8",
        "data": PICTURE.ravel().tolist(),
        **changes,
    }


def inference(*inputs: dict[str, Any], **others: Any) -> bytes:
    return json.dumps({"inputs": inputs or [tensor()], **others}).encode()


@pytest.mark.parametrize("data", [PICTURE.ravel().tolist(), PICTURE.tolist()])
def test_numbers_in_json_are_a_picture_flat_or_nested(data: Any) -> None:
    request = read_inference(inference(tensor(data=data), id="7"), None, MODEL)

    assert np.array_equal(request.picture, PICTURE[0])
    assert request.id == "7"
    assert request.outputs == {"boxes": False, "scores": False, "labels": False}


def test_numbers_may_follow_the_json_as_bytes() -> None:
    text = inference(
        tensor(data=None, parameters={"binary_data_size": 12}), parameters={"binary_data_output": True}
    )

    request = read_inference(text + PICTURE.tobytes(), str(len(text)), MODEL)

    assert np.array_equal(request.picture, PICTURE[0])
    assert request.outputs == {"boxes": True, "scores": True, "labels": True}


@pytest.mark.parametrize(
    ("body", "length", "reason", "text"),
    [
        (b"{", None, "header", "expected JSON with `inputs`"),
        (b"[" * 100_000, None, "header", "expected JSON with `inputs`"),
        (b"\xff", None, "header", "expected JSON with `inputs`"),
        (b"{}", None, "header", "expected JSON with `inputs`"),
        (inference(), "many", "header", "expected a number of bytes in Inference-Header-Content-Length"),
        (inference(), "-1", "header", "expected a number of bytes in Inference-Header-Content-Length"),
        (inference(), "9999", "header", "Inference-Header-Content-Length is 9999, but the body has"),
        (inference(tensor(), tensor()), None, "header", "expected one input, image, found ['image', 'image']"),
        (inference(tensor(name="x")), None, "header", "expected one input, image, found ['x']"),
        (inference(tensor(shape=[2, 2, 3])), None, "header", "expected shape [1, height, width, 3]"),
        (inference(tensor(shape=[1, 3, 2, 2])), None, "header", "found [1, 3, 2, 2]"),
        (inference(tensor(shape=[1, 0, 2, 3])), None, "header", "found [1, 0, 2, 3]"),
        (inference(tensor(shape=[1, -2, 2, 3])), None, "header", "expected JSON with `inputs`"),
        (inference(tensor(shape=[1, 4, 2, 3])), None, "header", "has 24 numbers, but 12 came"),
        (inference(tensor(shape=[1, 2**32, 2**32, 3])), None, "header", "but 12 came: nothing was read"),
        (inference(tensor(datatype="FP32")), None, "dtype", "expected datatype UINT8, found 'FP32'"),
        (inference(tensor(data=[256] * 12)), None, "values", "expected whole numbers from 0 to 255"),
        (inference(tensor(data=[-1] * 12)), None, "values", "expected whole numbers from 0 to 255"),
        (inference(tensor(data=[0.5] * 12)), None, "values", "expected whole numbers from 0 to 255"),
        (inference(tensor(data=[True] * 12)), None, "values", "expected whole numbers from 0 to 255"),
        (inference(tensor(data=[[1], [1, 2]])), None, "values", "expected whole numbers from 0 to 255"),
        (inference(tensor(data=[10**30] * 12)), None, "values", "expected whole numbers from 0 to 255"),
        (inference(tensor(data="picture")), None, "values", "expected whole numbers from 0 to 255"),
        (inference(tensor(data=None)), None, "header", "has 12 numbers, but 0 came"),
        (inference(tensor(parameters={"binary_data_size": 12})), None, "header", "but 0 bytes follow the JSON"),
        (inference(outputs=[{"name": "masks"}]), None, "header", "expected outputs of boxes, scores, labels"),
    ],
)
def test_what_lies_or_is_no_picture_is_refused(body: bytes, length: str | None, reason: str, text: str) -> None:
    with pytest.raises(RefusedRequestError) as refused:
        read_inference(body, length, MODEL)

    assert text in str(refused.value)
    assert refused.value.reason == reason


def test_an_answer_in_json() -> None:
    request = read_inference(inference(id="7"), None, MODEL)

    body, headers = inference_answer(request, MODEL, FOUND)

    assert headers["Content-Type"] == "application/json"
    assert json.loads(body) == {
        "model_name": "net",
        "model_version": MODEL.sha256,
        "id": "7",
        "outputs": [
            {"name": "boxes", "datatype": "FP32", "shape": [1, 4], "data": [50.0, 50.0, 150.0, 100.0]},
            {"name": "scores", "datatype": "FP32", "shape": [1], "data": [0.5]},
            {"name": "labels", "datatype": "BYTES", "shape": [1], "data": ["dög"]},
        ],
    }


def test_an_answer_with_the_wanted_outputs_as_bytes() -> None:
    wanted = [{"name": "labels", "parameters": {"binary_data": True}}, {"name": "scores"}]
    request = read_inference(inference(outputs=wanted), None, MODEL)

    body, headers = inference_answer(request, MODEL, FOUND)

    length = int(headers["Inference-Header-Content-Length"])
    labels, scores = json.loads(body[:length])["outputs"]
    assert labels == {"name": "labels", "datatype": "BYTES", "shape": [1], "parameters": {"binary_data_size": 8}}
    assert scores["data"] == [0.5]
    assert body[length:] == struct.pack("<I", 4) + "dög".encode()


def test_nothing_found_is_tensors_without_rows() -> None:
    request = read_inference(inference(), None, MODEL)

    body, _ = inference_answer(request, MODEL, NOTHING)

    assert [output["shape"] for output in json.loads(body)["outputs"]] == [[0, 4], [0], [0]]


def test_a_classifier_has_no_boxes() -> None:
    top = (Label(label="dög", index=1, score=0.75), Label(label="cat", index=0, score=0.25))
    request = read_inference(inference(), None, CLASSIFIER)

    found = AnsweredPicture(FrameAnswer(frame=0, captured_at=0.0, top=top), width=200, height=100)
    body, _ = inference_answer(request, CLASSIFIER, found)

    assert [output["data"] for output in json.loads(body)["outputs"]] == [[0.75, 0.25], ["dög", "cat"]]
    assert [output["name"] for output in model_metadata(CLASSIFIER)["outputs"]] == ["scores", "labels"]
