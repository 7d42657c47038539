"""PoCL with threads or without: measured by a process of its own, and taken by the next start."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from edged.config import Config
from edged.engine.device import POCL, list_devices
from edged.messages import Scores
from edged.model.model_part import Features, Images, ModelPart
from edged.runtime.numpy_runtime import NumpyPending, NumpyRuntime
from edged.runtime.threads import DRIVER, DRIVER_OF_ALL, DRIVER_OF_ONE
from edged.system.disk_cache import CacheEntries
from edged.worker.driver_choice import TRIALS, faster_driver
from tests.cli import models
from tests.eventually import eventually
from tests.worker.hub_end import WorkerUnderTest, worker_process
from tests.worker.networks import INPUT, dense_network, pictures

pytestmark = pytest.mark.deep

pocl_only = pytest.mark.skipif(
    all(device.platform != POCL for device in list_devices()), reason="PoCL is not installed"
)

PROGRAM = """
import sys
from edged.config import Config
from edged.model.package import load_model
from edged.worker.driver_choice import DriverChoice, keep_trial
config = Config.model_validate_json(sys.argv[2])
choice = DriverChoice(config, 0, load_model(config.model))
match sys.argv[1]:
    case "measure":
        choice.measure(forward_s=float(sys.argv[3]))
    case "take":
        for driver in sys.argv[3:]:
            keep_trial(choice._key, driver)
        choice.take()
from edged.engine.device import find_device
print(find_device("portable").compute_units)
"""
QUICK_S, SLOW_S = "0.0001", "0.1"
ALL = len(os.sched_getaffinity(0))


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return config_with(tmp_path, threads=None)


def config_with(folder: Path, threads: int | None) -> Config:
    model = {"path": str(models.small_network(folder / "small.onnx"))}
    worker = {"device": "portable", "threads": threads}
    return Config.model_validate(
        {"cameras": {"demo": {"source": "synthetic:digits"}}, "model": model, "workers": [worker]}
    )


def units(folder: Path, config: Config, *arguments: str, **environment: str) -> int:
    """Run the program with a cache in `folder`; return the units that PoCL has afterwards."""
    verb, *others = arguments
    command = [sys.executable, "-c", PROGRAM, verb, config.model_dump_json(), *others]
    variables = {**os.environ, "XDG_CACHE_HOME": str(folder), **environment}
    return int(subprocess.run(command, env=variables, stdout=subprocess.PIPE, timeout=300, check=True).stdout)


class Thrice(NumpyRuntime):
    """Computes each job three times."""

    def submit(self, frames: Images | Features, *, features: bool = False, by_layer: bool = False) -> NumpyPending:
        for _ in range(2):
            super().submit(frames).wait()
        return super().submit(frames, features=features, by_layer=by_layer)


def test_the_driver_whose_jobs_take_less_time_is_chosen() -> None:
    quick, slow = (kind(ModelPart(dense_network(), INPUT).checked()) for kind in (NumpyRuntime, Thrice))

    assert faster_driver(quick, slow, pictures(1)) == DRIVER_OF_ONE
    assert faster_driver(slow, quick, pictures(1)) == DRIVER_OF_ALL


@pocl_only
@pytest.mark.skipif(ALL == 1, reason="one processor")
def test_each_start_measures_both_drivers_until_that_was_done_five_times(tmp_path: Path, config: Config) -> None:
    assert units(tmp_path, config, "measure", QUICK_S) == ALL
    (kept,) = tmp_path.rglob("*.faster")
    (first,) = trials(kept)
    units(tmp_path, config, "measure", QUICK_S)
    assert trials(kept)[0] == first
    assert len(trials(kept)) == 2

    units(tmp_path, config, "take", *[DRIVER_OF_ALL] * 3)
    units(tmp_path, config, "measure", QUICK_S)

    assert trials(kept)[2:] == [DRIVER_OF_ALL] * 3


def trials(kept: Path) -> list[str]:
    """Return the results in a file of the cache."""
    content = bytes(CacheEntries(kept.parent, "faster").load(kept.stem) or b"").decode().split()
    assert set(content) <= {DRIVER_OF_ONE, DRIVER_OF_ALL}
    return content


@pocl_only
@pytest.mark.parametrize(
    ("faster", "expected"),
    [([DRIVER_OF_ONE], 1), ([DRIVER_OF_ALL], ALL), ([DRIVER_OF_ALL, *[DRIVER_OF_ONE] * 2], 1), ([], ALL)],
)
def test_a_start_takes_the_driver_that_was_faster_most_often(
    tmp_path: Path, config: Config, faster: list[str], expected: int
) -> None:
    assert units(tmp_path, config, "take", *faster) == expected


@pocl_only
def test_a_slow_network_is_not_measured(tmp_path: Path, config: Config) -> None:
    units(tmp_path, config, "measure", SLOW_S)

    assert list(tmp_path.rglob("*.faster")) == []


@pocl_only
def test_what_the_user_has_decided_stays(tmp_path: Path, config: Config) -> None:
    of_config = config_with(tmp_path, threads=ALL)

    for number, (chosen, environment) in enumerate([(config, {DRIVER: DRIVER_OF_ALL}), (of_config, {})]):
        folder = tmp_path / str(number)
        units(folder, chosen, "measure", QUICK_S, **environment)
        assert list(folder.rglob("*.faster")) == []
        assert units(folder, chosen, "take", DRIVER_OF_ONE, **environment) == ALL


@pocl_only
@pytest.mark.skipif(ALL == 1, reason="one processor")
def test_a_worker_measures_while_it_serves_and_answers_the_same_with_either_driver(tmp_path: Path) -> None:
    text = config_with(tmp_path, threads=None).model_dump_json()
    with worker_process(tmp_path, text) as worker:
        first = answer(worker)
        (kept,) = eventually(lambda: list(tmp_path.rglob("*.faster")))

    for driver in (DRIVER_OF_ONE, DRIVER_OF_ALL):
        CacheEntries(kept.parent, "faster").save(kept.stem, [" ".join([driver] * TRIALS).encode()])
        with worker_process(tmp_path, text) as worker:
            assert answer(worker) == pytest.approx(first, rel=1e-4)


def answer(worker: WorkerUnderTest) -> list[float]:
    """Start it with a picture, and return its scores."""
    hello = worker.hello()
    size = (hello.model.height, hello.model.width, 3)
    worker.submit(1, np.random.default_rng(1).integers(0, 256, (1, *size)).astype(np.uint8))
    scores = worker.answer()
    assert isinstance(scores, Scores)
    return [each.score for each in scores.frames[0]]
