"""A worker that is recorded tells more, and answers the same."""

import itertools
from collections.abc import Iterator

import numpy as np
import pytest

from edged.messages import JobTimes, Layers, LinkMessage, RecorderHello, RecordRequest, Scores, TraceBatch, encode
from tests.cli.command import DEVICES
from tests.cli.models import small_network
from tests.worker.hub_end import WorkerUnderTest, worker_process

CONFIG = """
cameras: {{door: {{source: "synthetic:digits"}}}}
model: {{path: {model}}}
workers: [{{device: {device}}}]
"""
PICTURES = np.random.default_rng(4).integers(0, 256, (3, 16, 16, 3), np.uint8)

numbers = itertools.count()


@pytest.fixture(scope="module", params=DEVICES)
def worker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerUnderTest]:
    folder = tmp_path_factory.mktemp("watched")
    model = small_network(folder / "small.onnx")
    with worker_process(folder, CONFIG.format(device=request.param, model=model)) as worker:
        worker.hello()
        yield worker
        worker.stop()
        assert worker.exit_code() == 0


def order(worker: WorkerUnderTest, recording: int, for_s: float = 60.0, layers: Layers = "none") -> None:
    worker.send(encode(RecordRequest(recording=recording, for_s=for_s, layers=layers)))


def answers(worker: WorkerUnderTest, jobs: int) -> tuple[list[Scores], list[LinkMessage]]:
    """What it makes of the pictures, one job after the other, and what else it says."""
    scores: list[Scores] = []
    others: list[LinkMessage] = []
    for job in range(jobs):
        worker.submit(next(numbers), PICTURES[job % len(PICTURES)][None])
        while len(scores) <= job:
            message, _ = worker.says()
            if isinstance(message, Scores):
                scores.append(message)
            else:
                others.append(message)
    return scores, others


def end(worker: WorkerUnderTest, recording: int, said: list[LinkMessage]) -> list[LinkMessage]:
    """All that it says of a recording, which is over."""
    order(worker, recording, 0.0)
    while not (said and isinstance(said[-1], TraceBatch) and said[-1].last):
        said.append(worker.says()[0])
    return said


def times_in(said: list[LinkMessage]) -> list[JobTimes]:
    return [job for message in said if isinstance(message, TraceBatch) for job in message.jobs]


@pytest.mark.deep
def test_it_answers_the_same_before_meanwhile_and_afterwards(worker: WorkerUnderTest) -> None:
    before, silence = answers(worker, 3)
    order(worker, 1, layers="all")
    meanwhile, told = answers(worker, 3)
    end(worker, 1, told)
    afterwards, silence_again = answers(worker, 3)

    assert [each.frames for each in before] == [each.frames for each in meanwhile]
    assert [each.frames for each in before] == [each.frames for each in afterwards]
    assert silence == silence_again == []


def test_each_job_is_reported_once_with_its_kernels_in_the_order_of_the_plan(worker: WorkerUnderTest) -> None:
    order(worker, 2, layers="all")
    scores, told = answers(worker, 20)
    end(worker, 2, told)

    introduction, times = told[0], times_in(told)
    assert isinstance(introduction, RecorderHello)
    assert [each.job for each in times] == [each.job for each in scores]
    for each in times:
        assert each.begun_ns <= each.submitted_ns <= each.taken_ns <= each.answered_ns
        assert each.begun_ns < each.done_ns <= each.taken_ns
        if each.device:
            edges = [edge for span in each.device.kernels for edge in span]
            assert edges == sorted(edges)
            assert each.device.forward == (edges[0], edges[-1])
            assert each.reading_s > 0
        assert len(introduction.costs) == (len(each.device.kernels) if each.device else 0)


@pytest.mark.deep
def test_where_the_cost_is_wanted_every_other_block_of_jobs_goes_without(worker: WorkerUnderTest) -> None:
    order(worker, 3, layers="half")
    _, told = answers(worker, 32)

    end(worker, 3, told)

    timed = [bool(each.device and each.device.kernels) for each in times_in(told)]
    if any(each.device for each in times_in(told)):
        assert (timed.count(True), timed.count(False)) == (16, 16)
    else:
        assert not any(timed)


def test_nothing_is_recorded_unless_the_hub_extends_the_recording(worker: WorkerUnderTest) -> None:
    order(worker, 4, for_s=1e-9)

    _, told = answers(worker, 3)

    assert [type(message) for message in told] == [RecorderHello]
