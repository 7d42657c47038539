"""The worker process from start to end, with a hub's socket at its other end."""

import signal
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from edged.config import ModelConfig
from edged.messages import Job, JobFailed, Part, Scores, Stop, encode
from edged.model import reference
from edged.model.package import load_model
from tests.cli import models
from tests.cli.command import DEVICES, NO_OPENCL, edged
from tests.worker.hub_end import worker_process

CAMERAS = "cameras: {demo: {source: 'synthetic:digits'}}\n"


def config(model: Path, device: str = "numpy", extra: str = "") -> str:
    return f"{CAMERAS}model: {{path: {model}}}\nworkers: [{{device: {device}{extra}}}]\n"


def pictures(count: int) -> np.ndarray:
    shape = (count, models.SIZE, models.SIZE, 3)
    return np.random.default_rng(3).integers(0, 256, shape).astype(np.uint8)


@pytest.mark.parametrize("device", DEVICES)
def test_a_worker_greets_answers_as_the_reference_does_and_stops(tmp_path: Path, device: str) -> None:
    file = models.small_network(tmp_path / "model.onnx")
    model = load_model(ModelConfig(path=file))
    images = pictures(3)
    expected = reference.softmax(reference.run(model.graph, reference.prepare(images, model.input)))

    with worker_process(tmp_path, config(file, device, ", batch: 4, credit: 3")) as worker:
        hello = worker.hello()
        worker.submit(0, images[:1], top=5)
        worker.submit(1, images, top=5)
        single, several = worker.answer(), worker.answer()
        worker.stop()

        assert worker.exit_code() == 0
        assert worker.peer == "worker/local-0"
    assert (hello.worker, hello.batch, hello.credit) == ("local-0", 4, 3)
    assert (hello.model.name, hello.model.sha256) == (model.name, model.sha256)
    assert (hello.model.width, hello.model.height) == (models.SIZE, models.SIZE)
    assert isinstance(single, Scores)
    assert isinstance(several, Scores)
    assert (single.job, several.job) == (0, 1)
    for frame, shares in zip(several.frames, expected, strict=True):
        by_index = [score.score for score in sorted(frame, key=lambda score: score.index)]
        np.testing.assert_allclose(by_index, shares, atol=1e-4)
    assert single.forward_s > 0


@pytest.mark.deep
@pytest.mark.deep
@pytest.mark.parametrize("device", DEVICES)
def test_two_workers_of_one_network_answer_as_one_worker_does(tmp_path: Path, device: str) -> None:
    file = models.small_network(tmp_path / "model.onnx")
    workers = f"workers: [{{device: {device}, group: a, batch: 3}}, {{device: {device}, group: b, batch: 3}}]\n"
    text = f"{CAMERAS}model: {{path: {file}}}\n{workers}"
    segments = "segments: [{until: a, workers: a}, {workers: b}]\n"
    images = pictures(3)
    with worker_process(tmp_path, text) as all_of_it:
        assert all_of_it.hello().part is None
        all_of_it.submit(0, images)
        expected = all_of_it.answer()
    with worker_process(tmp_path, text + segments) as front:
        gives = front.hello().part
        front.submit(1, images)
        features, payload = front.features()
    with worker_process(tmp_path, text + segments, index=1) as back:
        takes = back.hello().part
        back.send(encode(Job(job=1, frames=3, top=3, timeout_s=60)), payload)
        answer = back.answer()

    assert gives == Part(end="a", values_out=8 * models.SIZE**2)
    assert takes == Part(begin="a", values_in=8 * models.SIZE**2)
    assert (features.job, len(payload)) == (1, 3 * 4 * 8 * models.SIZE**2)
    assert isinstance(answer, Scores)
    assert isinstance(expected, Scores)
    assert answer.frames == expected.frames


def test_a_place_where_the_network_cannot_be_cut_ends_a_worker_with_those_where_it_can(tmp_path: Path) -> None:
    file = models.small_network(tmp_path / "model.onnx")
    segments = "workers: [{group: a}, {group: b}]\nsegments: [{until: stage2, workers: a}, {workers: b}]\n"
    with worker_process(tmp_path, f"{CAMERAS}model: {{path: {file}}}\n{segments}") as worker:
        assert worker.exit_code() == 2
        assert "cannot be cut after 'stage2'; a single tensor crosses after: a, c, c/flat" in worker.errors()


@pytest.mark.deep
@pytest.mark.parametrize("device", DEVICES)
def test_jobs_that_overlap_on_the_device_keep_their_own_answers(tmp_path: Path, device: str) -> None:
    file = models.small_network(tmp_path / "model.onnx")
    model = load_model(ModelConfig(path=file))
    images = pictures(24)
    expected = reference.softmax(reference.run(model.graph, reference.prepare(images, model.input)))

    with worker_process(tmp_path, config(file, device, ", credit: 16")) as worker:
        worker.hello()
        for number, image in enumerate(images):
            worker.submit(number, image[np.newaxis], top=1)
        answers = [worker.answer() for _ in images]

    assert [answer.job for answer in answers] == list(range(24))
    best = [answer.frames[0][0].score for answer in answers if isinstance(answer, Scores)]
    np.testing.assert_allclose(best, expected.max(axis=1), atol=1e-5)


@pytest.mark.deep
@pytest.mark.skipif("auto" not in DEVICES, reason="no OpenCL runtime")
def test_a_worker_that_had_to_compile_starts_again_without_the_compilers_memory(tmp_path: Path) -> None:
    file = models.small_network(tmp_path / "model.onnx")

    with worker_process(tmp_path, config(file, "auto")) as cold:
        cold.hello()
        cold.process.send_signal(signal.SIGTERM)
        assert cold.exit_code() == 0
        assert cold.errors().count("restarting the worker") == 1
    with worker_process(tmp_path, config(file, "auto")) as warm:
        warm.hello()
        warm.stop()
        assert warm.exit_code() == 0
        assert "restarting the worker" not in warm.errors()


def test_a_frame_of_another_size_is_refused_and_the_worker_goes_on(tmp_path: Path) -> None:
    file = models.small_network(tmp_path / "model.onnx")

    with worker_process(tmp_path, config(file)) as worker:
        worker.hello()
        worker.submit(0, np.zeros((1, 8, 8, 3), np.uint8))
        worker.send(b"nonsense")
        worker.submit(1, pictures(1))
        refused, answered = worker.answer(), worker.answer()

    assert isinstance(refused, JobFailed)
    assert "16 × 16 × 3" in refused.error
    assert isinstance(answered, Scores)


def test_sigterm_ends_a_worker_well_and_ctrl_c_does_not_reach_it(tmp_path: Path) -> None:
    file = models.small_network(tmp_path / "model.onnx")

    with worker_process(tmp_path, config(file)) as worker:
        worker.hello()
        worker.process.send_signal(signal.SIGINT)
        worker.submit(0, pictures(1))
        assert isinstance(worker.answer(), Scores)
        worker.process.send_signal(signal.SIGTERM)

        assert worker.exit_code() == 0
        assert "Traceback" not in worker.errors()


def test_ctrl_c_ends_a_worker_that_a_person_has_started(tmp_path: Path) -> None:
    file = models.small_network(tmp_path / "model.onnx")

    with worker_process(tmp_path, config(file), by_hub=False) as worker:
        worker.hello()
        worker.process.send_signal(signal.SIGINT)

        assert worker.exit_code() == 0


def test_a_hub_that_refuses_ends_the_worker_with_the_reason(tmp_path: Path) -> None:
    file = models.small_network(tmp_path / "model.onnx")

    with worker_process(tmp_path, config(file)) as worker:
        worker.hello()
        worker.send(encode(Stop(refused="another model")))

        assert worker.exit_code() == 1
        assert "refused this worker: another model" in worker.errors()


@pytest.mark.parametrize(
    "make",
    [
        make if make in {models.text_file, models.unsupported} else pytest.param(make, marks=pytest.mark.deep)
        for make in models.BAD
    ],
)
def test_a_bad_model_ends_a_worker_with_one_message(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    file = make(tmp_path / "model.onnx")

    with worker_process(tmp_path, config(file)) as worker:
        errors = worker.errors()

        assert worker.exit_code() == 2
    assert models.BAD[make] in errors
    assert "Traceback" not in errors


@pytest.mark.deep
@pytest.mark.skipif("auto" not in DEVICES, reason="no OpenCL runtime")
def test_a_device_that_a_stopped_worker_holds_is_refused_to_a_second_one(tmp_path: Path) -> None:
    file = models.small_network(tmp_path / "model.onnx")
    (tmp_path / "second").mkdir()

    with worker_process(tmp_path, config(file, "auto")) as first:
        first.hello()
        first.process.send_signal(signal.SIGSTOP)
        with worker_process(tmp_path / "second", config(file, "auto")) as second:
            errors = second.errors()

            assert second.exit_code() == 3
    assert f"is in use by process {first.process.pid} (edged worker 0), which is stopped (state T)" in errors
    assert "Traceback" not in errors


def test_an_unknown_device_ends_a_worker_with_one_message(tmp_path: Path) -> None:
    file = models.small_network(tmp_path / "model.onnx")

    with worker_process(tmp_path, config(file, "Voodoo")) as worker:
        errors = worker.errors()

        assert worker.exit_code() == 3
    assert "Voodoo" in errors
    assert "Traceback" not in errors


def test_without_opencl_a_worker_names_the_package_that_is_missing(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(config(models.small_network(tmp_path / "model.onnx"), "auto"))

    done = edged("worker", 0, "--config", file, "--hub", f"ipc://{tmp_path}/hub", env=NO_OPENCL)

    assert done.returncode == 3
    assert "apt install pocl-opencl-icd" in done.stderr


def test_a_worker_that_the_config_has_not_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(CAMERAS)

    done = edged("worker", 9, "--config", file, "--hub", f"ipc://{tmp_path}/hub")

    assert done.returncode == 2
    assert "there is no worker 9" in done.stderr
