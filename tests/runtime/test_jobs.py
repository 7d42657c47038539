"""A stream of pictures, job after job."""

from collections.abc import Iterator

import numpy as np
import pytest

from edged.config import ModelConfig, WorkerConfig
from edged.model.model_part import whole_model
from edged.model.package import load_model
from edged.runtime.jobs import Prepared, compute
from edged.runtime.select import open_runtime

DIGITS = whole_model(load_model(ModelConfig(name="digits")))


def test_problems_keep_their_places_and_outputs_those_of_single_pictures() -> None:
    runtime = open_runtime(DIGITS, WorkerConfig(device="numpy", batch=2))
    noise = np.random.default_rng(3).integers(0, 256, (4, 120, 120, 3)).astype(np.uint8)
    pictures: list[Prepared] = [noise[0], "cut short", "absent", "absent too", noise[1], noise[2], noise[3]]

    jobs = list(compute(runtime, pictures, 2))

    assert [len(job) for job in jobs] == [2, 2, 2, 1]
    found = [each for job in jobs for each in job]
    for place in (0, 4, 5, 6):
        [[alone]] = compute(runtime, [pictures[place]], 1)
        np.testing.assert_allclose(np.asarray(found[place]), np.asarray(alone), rtol=1e-4, atol=1e-5)
    assert found[1:4] == ["cut short", "absent", "absent too"]


def test_no_pictures_are_no_jobs() -> None:
    runtime = open_runtime(DIGITS, WorkerConfig(device="numpy"))

    assert list(compute(runtime, [], 4)) == []


@pytest.mark.parametrize(("ahead", "read"), [(0, 1), (1, 2)])
def test_so_many_jobs_are_read_ahead_of_the_first_result(ahead: int, read: int) -> None:
    runtime = open_runtime(DIGITS, WorkerConfig(device="numpy"))
    remaining: Iterator[Prepared] = iter(list(np.zeros((4, 120, 120, 3), np.uint8)))

    next(compute(runtime, remaining, 1, ahead))

    assert len(list(remaining)) == 4 - read
