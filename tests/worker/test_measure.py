"""What a worker measures of its network for `edged plan-split`, and the parts that it takes."""

from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np
import pytest

from edged.config import ModelConfig, WorkerConfig
from edged.messages import (
    AssignPart,
    Echo,
    Features,
    Job,
    MeasureAnswer,
    MeasureRequest,
    Part,
    Scores,
    WorkerHello,
    encode,
)
from edged.model.package import load_model
from edged.model.passes import simplify
from edged.model.resnet import random_resnet
from edged.worker.measure import cuts_in, measure
from tests.cli import models
from tests.cli.command import DEVICES
from tests.e2e.daemon import compiled
from tests.worker.hub_end import worker_process

PICTURES = np.random.default_rng(3).integers(0, 256, (2, models.SIZE, models.SIZE, 3)).astype(np.uint8)


def config(folder: Path, device: str) -> str:
    file = models.small_network(folder / "model.onnx")
    worker = f"{{device: {device}, batch: 2}}"
    return f"cameras: {{demo: {{source: 'synthetic:digits'}}}}\nmodel: {{path: {file}}}\nworkers: [{worker}]\n"


@pytest.mark.parametrize("device", DEVICES)
def test_each_stretch_of_the_network_is_measured_as_a_worker_would_run_it(tmp_path: Path, device: str) -> None:
    model = load_model(ModelConfig(path=models.small_network(tmp_path / "model.onnx")))
    programs = compiled() / "edged" / "programs"

    found = measure(MeasureRequest(frames=2, for_s=0.0), model, WorkerConfig(device=device, batch=2), programs)

    assert [place.after for place in found.cut_points] == [None, "a", "c", None]
    assert [place.nbytes for place in found.cut_points] == [2 * 16 * 16 * 3, 2 * 8 * 16 * 16 * 4, 2 * 8 * 4, 0]
    assert found.cut_points[0].reached_s == 0
    assert all(before.reached_s < after.reached_s for before, after in pairwise(found.cut_points))
    assert all(place.receive_s > 0 for place in found.cut_points[:-1])
    assert found.cut_points[-1].receive_s == found.cut_points[0].send_s == 0


def test_a_resnet_may_be_cut_between_its_blocks_and_before_its_last_layer() -> None:
    names = [cut.after for cut in cuts_in(simplify(random_resnet(18, 64, 64)))]
    blocks = [f"stage{stage}.block{block}.conv2" for stage in (1, 2, 3, 4) for block in (1, 2)]
    assert names == ["stem.conv", "stem.pool", *blocks, "pool"]


@pytest.mark.parametrize("device", DEVICES)
def test_a_worker_measures_takes_a_part_and_gives_it_back(tmp_path: Path, device: str) -> None:
    with worker_process(tmp_path, config(tmp_path, device), programs=compiled()) as worker:
        before = worker.hello()
        worker.submit(0, PICTURES)
        expected = worker.answer()

        worker.send(encode(MeasureRequest(frames=2, for_s=0.0)))
        measured, _ = worker.says()
        again = worker.hello()
        worker.send(encode(AssignPart(end="a")))
        front = worker.hello()
        worker.submit(1, PICTURES)
        features, payloads = worker.says()
        worker.send(encode(AssignPart(begin="a")))
        back = worker.hello()
        worker.send(encode(Job(job=2, frames=2, top=3, timeout_s=60)), *payloads)
        answer = worker.answer()
        worker.send(encode(AssignPart()))
        whole = worker.hello()
        worker.stop()
        assert worker.exit_code() == 0

    assert isinstance(measured, MeasureAnswer)
    assert isinstance(features, Features)
    assert front.part == Part(end="a", values_out=8 * models.SIZE**2)
    assert back.part == Part(begin="a", values_in=8 * models.SIZE**2)
    assert isinstance(answer, Scores)
    assert isinstance(expected, Scores)
    assert answer.frames == expected.frames
    assert without_times(before) == without_times(again) == without_times(whole)


def without_times(hello: WorkerHello) -> WorkerHello:
    return msgspec.structs.replace(hello, forward_s=0.0)


@pytest.mark.deep
def test_an_echo_brings_as_many_bytes_as_are_wanted(tmp_path: Path) -> None:
    with worker_process(tmp_path, config(tmp_path, "numpy")) as worker:
        worker.hello()
        worker.send(encode(Echo(reply_bytes=1000)), b"some bytes")
        echo, payloads = worker.says()
    assert isinstance(echo, Echo)
    assert [len(payload) for payload in payloads] == [1000]


def test_a_part_that_cannot_be_ends_the_worker_with_the_places_where_it_can(tmp_path: Path) -> None:
    with worker_process(tmp_path, config(tmp_path, "numpy")) as worker:
        worker.hello()
        worker.send(encode(AssignPart(end="stage2")))
        assert worker.exit_code() == 2
        assert "cannot be cut after 'stage2'; a single tensor crosses after: a" in worker.errors()
