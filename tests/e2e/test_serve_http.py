"""A daemon that answers programs over HTTP: curl and Triton's client get the boxes of `edged.Model`."""

import os
import signal
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path
from ssl import create_default_context
from typing import Any

import numpy as np
import pytest
import tritonclient.http as triton

import edged
from edged import config
from edged.messages import Box
from edged.model.package import load_model
from edged.pictures.decode import read_picture
from edged.pictures.prepare import Pixels
from tests.e2e.certificates import new_authority, new_certificate
from tests.e2e.daemon import PATIENT, START_S, Daemon, config_in, conserves, run_edged
from tests.eventually import LIMIT_S, eventually, free_port
from tests.http_requests import FORM, HOST, curl, form, png
from tests.model.detectors import detector_file

DETECTION = "/v1/vision/detection"
CLIENTS, REQUESTS = 50, 10_000
REAL = ("yolox_nano", "FastestDet", "ultraface_rfb_320")
PICTURE = np.random.default_rng(3).integers(0, 256, (90, 160, 3)).astype(np.uint8)


@contextmanager
def serving(
    folder: Path,
    *,
    answer_s: float = LIMIT_S,
    requests: dict[str, Any] | None = None,
    authority: Path | None = None,
    **sections: Any,
) -> Iterator[tuple[Daemon, int]]:
    """A daemon whose only camera is programs that use HTTP, and its port; it is ready to answer.

    `authority`: that signed its certificate, if it has one.
    """
    port = free_port()
    path = detector_file(folder / "net.onnx", "yolox")
    (folder / "labels.txt").write_text("cat\ndog\ncow\n")
    camera = {"source": f"requests:{HOST}:{port}", "answer_s": answer_s, "requests": requests}
    settings = config_in(
        folder,
        cameras={"http": camera},
        freshness=PATIENT,
        **{"model": {"path": str(path), "labels": str(folder / "labels.txt"), "threshold": 0.3}, **sections},
    )
    with run_edged(folder, config=settings) as daemon:
        eventually(lambda: is_ready(port, authority), START_S)
        yield daemon, port


def is_ready(port: int, authority: Path | None = None) -> bool:
    """Whether a server listens there, knows the model, and a worker serves it."""
    if authority:
        client: HTTPConnection = HTTPSConnection(HOST, port, context=create_default_context(cafile=authority))
    else:
        client = HTTPConnection(HOST, port, timeout=LIMIT_S)
    with closing(client):
        try:
            client.request("GET", "/v2/health/ready")
            return client.getresponse().status == 200
        except OSError:  # nobody listens yet
            return False


def boxes_of(model: config.ModelConfig, *pictures: Pixels) -> list[tuple[Box, ...]]:
    """What `edged.Model` finds in each picture."""
    with edged.Model(load_model(model), "numpy") as network:
        return [tuple(network.boxes(picture)) for picture in pictures]


def in_pixels(boxes: tuple[Box, ...], picture: Pixels) -> list[list[int]]:
    height, width = picture.shape[:2]
    return [
        [round(share * side) for share, side in zip(box.box, (width, height) * 2, strict=True)] for box in boxes
    ]


def predicted(prediction: dict[str, Any]) -> list[int]:
    return [prediction[key] for key in ("x_min", "y_min", "x_max", "y_max")]


def test_curl_and_tritons_client_get_the_boxes_that_the_network_finds(tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(png(PICTURE))
    with serving(tmp_path) as (daemon, port):
        [expected] = boxes_of(config.ModelConfig(**daemon.config["model"]), PICTURE)
        url = f"http://{HOST}:{port}{DETECTION}"
        of_curl = curl(url, "--form", f"image=@{tmp_path}/picture.png")
        (prediction,) = daemon.first(1, since_s=LIMIT_S)
        best = curl(
            url, "--form", f"image=@{tmp_path}/picture.png", "--form", f"min_confidence={expected[0].score}"
        )
        wrong = curl(url, "--form", f"image=@{tmp_path}/labels.txt")
        with closing(triton.InferenceServerClient(f"{HOST}:{port}")) as client:
            tensor = triton.InferInput("image", [1, *PICTURE.shape], "UINT8")
            tensor.set_data_from_numpy(PICTURE[None])
            of_triton = client.infer("net", [tensor])
        eventually(lambda: 'edged_serve_refused_total{camera="http",reason="picture"} 1.0' in daemon.metrics())
        assert 'edged_serve_late_total{camera="http"} 0.0' in daemon.metrics()
        summary = daemon.stop()

    assert expected
    found = of_curl.json["predictions"]
    assert [each["label"] for each in found] == [box.label for box in expected]
    assert [each["confidence"] for each in found] == pytest.approx([box.score for box in expected], abs=1e-4)
    assert np.abs(np.subtract([predicted(each) for each in found], in_pixels(expected, PICTURE))).max() <= 1
    assert np.allclose(of_triton.as_numpy("scores"), [box.score for box in expected], atol=1e-4)
    assert of_triton.as_numpy("labels").tolist() == [box.label.encode() for box in expected]
    assert len(best.json["predictions"]) < len(found)
    assert wrong.status == 400
    assert prediction.boxes is not None
    assert len(prediction.boxes) == len(expected)
    assert (summary["captured"], summary["predictions"]) == (3, 3)


@pytest.mark.parametrize("verb", ["worker", "camera"])
def test_a_session_goes_on_when_a_process_is_killed(tmp_path: Path, verb: str) -> None:
    (tmp_path / "picture.png").write_bytes(png(PICTURE))

    def is_answered() -> bool:
        with closing(HTTPConnection(HOST, port, timeout=LIMIT_S)) as client:
            try:
                client.request("POST", DETECTION, form(png(PICTURE)), {"Content-Type": FORM})
                return client.getresponse().status == 200
            except OSError:  # nobody listens until there is another process
                return False

    with serving(tmp_path, answer_s=5) as (daemon, port):
        eventually(is_answered)
        os.kill(daemon.child(verb).pid, signal.SIGKILL)
        eventually(lambda: "was killed by SIGKILL" in daemon.log())
        eventually(is_answered)
        assert conserves(daemon.stop())


@pytest.mark.deep
def test_ten_thousand_requests_are_all_answered_and_none_is_lost(tmp_path: Path) -> None:
    body = form(png(PICTURE))

    def session(_: int) -> Counter[int]:
        statuses: Counter[int] = Counter()
        with closing(HTTPConnection(HOST, port, timeout=LIMIT_S)) as client:
            for _ in range(REQUESTS // CLIENTS):
                client.request("POST", DETECTION, body, {"Content-Type": FORM})
                answer = client.getresponse()
                answer.read()
                statuses[answer.status] += 1
        return statuses

    with serving(tmp_path, answer_s=1) as (daemon, port), ThreadPoolExecutor(CLIENTS) as pool:
        statuses = sum(pool.map(session, range(CLIENTS)), Counter[int]())
        summary = daemon.stop()

    assert statuses.total() == REQUESTS
    assert set(statuses) <= {200, 503}
    assert summary["captured"] == REQUESTS
    assert conserves(summary)
    assert 0 < statuses[200] <= summary["predictions"]


def test_another_host_needs_tls_and_the_key(tmp_path: Path) -> None:
    new_authority(tmp_path, "authority")
    new_certificate(tmp_path, "board", "authority")
    (tmp_path / "key").write_text("a key of this test\n")
    tls = {"certificate": str(tmp_path / "board.crt"), "key": str(tmp_path / "board.key")}
    authority, requests = tmp_path / "authority.crt", {"key_file": str(tmp_path / "key"), "tls": tls}
    with serving(tmp_path, requests=requests, authority=authority) as (_, port):
        (tmp_path / "picture.png").write_bytes(png(PICTURE))
        url, trust = f"https://{HOST}:{port}{DETECTION}", ("--cacert", authority)
        form_of = ("--form", f"image=@{tmp_path}/picture.png")

        assert curl(url, *trust, *form_of).status == 401
        assert curl(url, *trust, *form_of, "--form", "api_key=a key of this test").status == 200


@pytest.mark.deep
@pytest.mark.parametrize("name", REAL)
def test_programs_get_the_boxes_of_real_networks(tmp_path: Path, shared_data: Path, name: str) -> None:
    model = {"path": str(shared_data / f"detection/{name}.onnx")}
    files = sorted((shared_data / "detection/pictures").glob("*.jpg"))[:8]
    pictures = [read_picture(file) for file in files]

    with serving(tmp_path, model=model, workers=[{"device": "auto"}]) as (_, port):
        replies = [curl(f"http://{HOST}:{port}{DETECTION}", "--form", f"image=@{file}") for file in files]

    expected = boxes_of(config.ModelConfig(**model), *pictures)
    assert any(expected)
    for reply, boxes, picture in zip(replies, expected, pictures, strict=True):
        found = reply.json["predictions"]
        assert [each["label"] for each in found] == [box.label for box in boxes]
        assert np.allclose([predicted(each) for each in found], in_pixels(boxes, picture), atol=1)
