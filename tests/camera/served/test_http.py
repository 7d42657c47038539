"""The real process that answers programs over HTTP, between clients and a hub by hand."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tritonclient.http as triton

from edged.messages import Box, Capture, FrameAnswer, Grant, Label, ServedModel
from edged.messages.preparation import Resize
from tests.camera.hub_end import SIDE, CameraRun, Received, down_report, running_camera
from tests.eventually import LIMIT_S, eventually, free_port
from tests.http_requests import FORM, HOST, connected, curl, form, png, post, reply_in, rest_of

DETECTOR = ServedModel(name="net", sha256="0" * 64, labels=("cat", "dog"), task="detect", ready=True)
CLASSIFIER = ServedModel(name="net", sha256="0" * 64, labels=("cat", "dog"), task="classify", ready=True)
DOG = Box(label="dog", index=1, score=0.75, box=(0.25, 0.0, 0.5, 1.0))
RED = np.zeros((40, 80, 3), np.uint8) + np.array([255, 0, 0], np.uint8)
DETECTION = "/v1/vision/detection"
INFER = "/v2/models/net/infer"
REQUEST = post(DETECTION, form(png(RED)))
KEY = "a key of this test"


@contextmanager
def serving(
    folder: Path,
    model: ServedModel = DETECTOR,
    *,
    granted: int = 100,
    answer_s: float = LIMIT_S,
    resize: Resize = "stretch",
    access: str = "",
) -> Iterator[tuple[CameraRun, int]]:
    """The process, ready to answer at a port."""
    port = free_port()
    settings = f'{{source: "requests:{HOST}:{port}", answer_s: {answer_s}{access}}}'
    with running_camera(folder, "http", settings, capture=False) as camera:
        eventually(camera.hub.has_hello)
        camera.hub.send(Capture(width=SIDE, height=SIDE, resize=resize))
        camera.hub.send(model)
        if granted:
            camera.hub.send(Grant(frames=granted))
        eventually(lambda: is_up(camera))
        eventually(lambda: curl(url(port, "/v2/health/ready")).status == 200)
        yield camera, port


def is_up(camera: CameraRun) -> bool:
    report = camera.hub.last_report()
    return report is not None and report.up


def url(port: int, path: str) -> str:
    return f"http://{HOST}:{port}{path}"


def answer(camera: CameraRun, received: Received, **found: Any) -> None:
    frame = received.frame
    camera.hub.send(FrameAnswer(frame=frame.frame, captured_at=frame.captured_at, **found))


def refused(camera: CameraRun) -> dict[str, int]:
    """How many requests were, by reason, without those of which there were none."""
    report = camera.hub.last_report()
    counts = report.requests.refused if report and report.requests else {}
    return {reason: count for reason, count in counts.items() if count}


def test_a_picture_becomes_a_frame_and_its_boxes_are_in_its_pixels(tmp_path: Path) -> None:
    with serving(tmp_path, resize="letterbox") as (camera, port), ThreadPoolExecutor() as pool:
        (tmp_path / "red.png").write_bytes(png(RED))
        found = pool.submit(curl, url(port, DETECTION), "--form", f"image=@{tmp_path}/red.png")
        eventually(camera.hub.has_frames)
        [received] = camera.hub.frames
        answer(camera, received, boxes=(DOG,))
        reply = found.result(LIMIT_S)
        report = camera.stop()

    assert received.frame.place == (0, SIDE / 4, SIDE, SIDE / 2)
    assert (received.pixels[SIDE // 2] == [255, 0, 0]).all()
    assert reply.status == 200
    assert reply.json["predictions"] == [
        {"label": "dog", "confidence": 0.75, "x_min": 20, "y_min": 0, "x_max": 40, "y_max": 40}
    ]
    assert (report.count.captured, report.count.dropped) == (1, {})


@pytest.mark.parametrize("binary", [True, False])
def test_tritons_client_gets_the_boxes_of_a_tensor(tmp_path: Path, binary: bool) -> None:
    def infer() -> Any:
        picture = triton.InferInput("image", [1, *RED.shape], "UINT8")
        picture.set_data_from_numpy(RED[None], binary_data=binary)
        outputs = [triton.InferRequestedOutput(name, binary_data=binary) for name in ("boxes", "scores", "labels")]
        with closing(triton.InferenceServerClient(f"{HOST}:{port}")) as client:
            assert client.is_server_live()
            assert client.is_model_ready("net")
            assert client.get_server_metadata()["name"] == "edged"
            assert client.get_model_metadata("net")["inputs"][0]["datatype"] == "UINT8"
            return client.infer("net", [picture], outputs=outputs, request_id="7")

    with serving(tmp_path) as (camera, port), ThreadPoolExecutor() as pool:
        result = pool.submit(infer)
        eventually(camera.hub.has_frames)
        answer(camera, camera.hub.frames[0], boxes=(DOG,))
        found = result.result(LIMIT_S)

    assert found.get_response()["id"] == "7"
    assert found.as_numpy("boxes").tolist() == [[20, 0, 40, 40]]
    assert found.as_numpy("scores").tolist() == [0.75]
    assert found.as_numpy("labels").tolist() == ([b"dog"] if binary else ["dog"])


def test_a_classifier_answers_which_scene_it_is(tmp_path: Path) -> None:
    with (
        serving(tmp_path, CLASSIFIER) as (camera, port),
        closing(connected(port, post("/v1/vision/scene", form(png(RED))))) as client,
    ):
        eventually(camera.hub.has_frames)
        answer(camera, camera.hub.frames[0], top=(Label(label="cat", index=0, score=0.5),))
        scene = reply_in(rest_of(client))
        with closing(connected(port, REQUEST)) as another:
            boxes = reply_in(rest_of(another))

    assert (scene.json["label"], scene.json["confidence"]) == ("cat", 0.5)
    assert boxes.status == 404
    assert boxes.json["error"] == "model net is a classifier: ask /v1/vision/scene"


BAD = [  # status, reason, text of the error, request
    (400, "picture", "is not a picture that can be read", post(DETECTION, form(b"no picture"))),
    (400, "picture", "is damaged or cut short", post(DETECTION, form(png(RED)[:-9]))),
    (400, "picture", "20000×20000 pixels; up to 16 million", post(DETECTION, form(b"P6 20000 20000 255\n"))),
    (400, "parts", "a form that cannot be read", post(DETECTION, b"no form")),
    (404, "model", "model net runs, not 'other'", post("/v1/vision/custom/other", form(png(RED)))),
    (404, "path", "POST '/v1/vision/face' is not answered", post("/v1/vision/face", form(png(RED)))),
    (404, "model", "model net runs, not 'another'", post("/v2/models/another/infer", b"{}")),
    (400, "header", "but the body has 2 bytes", post(INFER, b"{}", Inference_Header_Content_Length=99)),
    (400, "header", "without Content-Encoding", post(INFER, b"{}", Content_Encoding="gzip")),
    (403, "upload", "edged takes no models from clients", post("/v2/repository/models/net/load", b"{}")),
    (413, "too_large", "at most 16777216 bytes", post(DETECTION, b"", Content_Length=2**25)),
]


def test_each_bad_request_gets_one_error_and_is_counted(tmp_path: Path) -> None:
    with serving(tmp_path) as (camera, port):
        for status, _, text, sent in BAD:
            with closing(connected(port, sent)) as client:
                reply = reply_in(rest_of(client))
            assert (reply.status, text in reply.json["error"]) == (status, True), reply
            assert reply.json.get("success", False) is False
        eventually(lambda: refused(camera) == Counter(reason for _, reason, _, _ in BAD))
        report = camera.stop()
        _, errors = camera.process.communicate(timeout=LIMIT_S)

    assert all(text in errors for _, _, text, _ in BAD)
    assert "Traceback" not in errors
    assert report.count.captured == 0


def test_a_picture_of_one_pixel_is_a_picture(tmp_path: Path) -> None:
    with (
        serving(tmp_path) as (camera, port),
        closing(connected(port, post(DETECTION, form(png(RED[:1, :1]))))) as client,
    ):
        eventually(camera.hub.has_frames)
        answer(camera, camera.hub.frames[0], boxes=(DOG,))

        assert reply_in(rest_of(client)).json["predictions"][0]["y_max"] == 1


@pytest.mark.deep
def test_half_a_body_is_refused_in_time_and_so_is_one_whose_sender_leaves(tmp_path: Path) -> None:
    with serving(tmp_path) as (camera, port):
        with closing(connected(port, REQUEST[:-30])):
            pass  # it leaves
        eventually(lambda: refused(camera) == {"unfinished": 1})
        with closing(connected(port, REQUEST[:-30])) as client:
            reply = reply_in(rest_of(client))
        with closing(connected(port, b"nonsense\r\n\r\n")) as client:
            assert rest_of(client).startswith(b"HTTP/1.1 400 ")
        assert eventually(lambda: refused(camera) == {"unfinished": 2, "malformed": 1})

    assert reply.status == 408
    assert reply.json["error"] == "expected the whole body within 10 s"


def test_a_late_answer_is_an_error_and_counted_and_the_next_one_is_in_time(tmp_path: Path) -> None:
    with serving(tmp_path, answer_s=0.2) as (camera, port):
        with closing(connected(port, REQUEST)) as client:
            late = reply_in(rest_of(client))  # the hub says nothing
        eventually(lambda: (report := camera.hub.last_report()) and report.requests and report.requests.late == 1)
        report = camera.stop()

    assert late.status == 503
    assert late.headers["retry-after"] == "1"
    assert late.json["error"] == "no answer: no worker answered it within answer_s of the camera"
    assert report.count.captured == 1


@pytest.mark.parametrize(("reason", "status"), [("stale", 503), ("device_error", 500)])
def test_a_frame_that_the_hub_drops_is_an_error(tmp_path: Path, reason: str, status: int) -> None:
    with serving(tmp_path) as (camera, port), closing(connected(port, REQUEST)) as client:
        eventually(camera.hub.has_frames)
        answer(camera, camera.hub.frames[0], dropped=reason)

        assert reply_in(rest_of(client)).status == status


def test_the_newest_request_is_sent_first_and_the_oldest_of_too_many_are_given_up(tmp_path: Path) -> None:
    with serving(tmp_path, granted=0) as (camera, port), ExitStack() as clients:
        others = [clients.enter_context(closing(connected(port, REQUEST))) for _ in range(33)]
        eventually(lambda: dropped(camera) == {"superseded": 1})  # so all of them are here
        small = np.full((SIDE, SIDE, 3), 9, np.uint8)
        newest = clients.enter_context(closing(connected(port, post(DETECTION, form(png(small))))))
        eventually(lambda: dropped(camera) == {"superseded": 2})
        camera.hub.send(Grant(frames=1))
        eventually(camera.hub.has_frames)
        answer(camera, camera.hub.frames[0], boxes=(DOG,))
        assert reply_in(rest_of(newest)).status == 200
        report = camera.stop()
        errors = Counter(reply_in(rest_of(client)).json["error"] for client in others)

    assert (camera.hub.frames[0].pixels == 9).all()
    assert errors == {
        "no answer: newer requests took its place: send fewer at once": 2,
        "no answer: edged ends": 31,
    }
    assert report.count.dropped == {"superseded": 2, "shutdown": 31}
    assert report.count.captured == 34


def dropped(camera: CameraRun) -> dict[str, int]:
    report = camera.hub.last_report()
    return report.count.dropped if report else {}


def test_more_connections_than_places_wait_and_are_all_answered(tmp_path: Path) -> None:
    with serving(tmp_path) as (_, port), ExitStack() as clients:
        request = post("/v2/models/other/infer", b"{}")
        peers = [clients.enter_context(closing(connected(port, request))) for _ in range(400)]

        assert {reply_in(rest_of(peer)).status for peer in peers} == {404}


def test_requests_without_the_key_are_refused_and_guesses_slowed(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(f"{KEY}\n")
    with serving(tmp_path, granted=0, answer_s=0.2, access=", requests: {key_file: key}") as (camera, port):
        metadata = url(port, "/v2/models/net")
        assert curl(metadata).status == 401
        assert curl(metadata, "--header", f"Authorization: Bearer {KEY}").status == 200
        for keys, status in ((["wrong"], 401), ([KEY], 503)):  # 503: it waits, and nobody computes
            with closing(connected(port, post(DETECTION, form(png(RED), api_key=keys[0])))) as client:
                assert reply_in(rest_of(client)).status == status
        assert curl(url(port, "/v2/health/live")).status == 200
        statuses = [curl(metadata, "--header", "Authorization: Bearer x").status for _ in range(8)]
        assert statuses[0] == 401
        assert statuses[-1] == 429
        eventually(lambda: refused(camera).get("guessing"))
        assert refused(camera)["key"] >= 3


def test_a_port_that_is_taken_is_reported(tmp_path: Path) -> None:
    with serving(tmp_path) as (_, port):
        folder = tmp_path / "another"
        folder.mkdir()
        with running_camera(folder, "http", f'{{source: "requests:{HOST}:{port}"}}', capture=False) as another:
            report = eventually(lambda: down_report(another))

    assert report
    assert f"cannot listen at {HOST}:{port}: Address already in use" in str(report.error)


def test_a_connection_has_several_requests(tmp_path: Path) -> None:
    request = post(INFER, b"{}", "application/json", Connection="keep-alive")
    with serving(tmp_path) as (_, port), closing(connected(port, request + post(INFER, b"[]", FORM))) as client:
        replies = rest_of(client)

    assert replies.count(b"HTTP/1.1 400 Bad Request") == 2
