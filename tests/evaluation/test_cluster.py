"""`edged eval` on a real Ray cluster: the figures of one machine, whatever is killed."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from edged.errors import ImageError
from tests.batch.ray_cluster import RayCluster, ray_cluster
from tests.cli.command import DEVICES
from tests.cli.models import small_network
from tests.evaluation.pictures import picture
from tests.eventually import eventually, free_port

WITHIN_S = 300
OF_THE_RUN = ("device", "pictures_per_s", "data")

pytestmark = pytest.mark.deep


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with ray_cluster(devices=2) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """400 pictures of five classes; one file is no picture."""
    folder = tmp_path_factory.mktemp("data")
    for seed in range(400):
        picture(folder / str(seed % 5) / f"{seed:03}.png", seed, size=(400, 400))
    (folder / "0" / "000.png").write_bytes(b"none")
    return folder


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_network(tmp_path_factory.mktemp("model") / "small.onnx")


def started(model: Path, data: Path, cache: Path, *more: str, **environment: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "edged", "eval", str(model), "--data", str(data), "--json", "--quiet"]
    options = ["--device", DEVICES[-1], "--threads", "1", "--batch", "3", "--scale", "1/255", *more]
    whole = {**os.environ, "XDG_CACHE_HOME": str(cache), **environment}
    return subprocess.Popen(
        [*command, *options], env=whole, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def figures_of(running: "subprocess.Popen[str]") -> dict[str, Any]:
    """What it prints, without what differs from run to run; one picture cannot be read."""
    output, errors = running.communicate(timeout=WITHIN_S)
    assert running.returncode == ImageError.exit_code, errors
    found: dict[str, Any] = json.loads(output)
    return {key: value for key, value in found.items() if key not in OF_THE_RUN}


def test_the_figures_are_those_of_one_machine_though_an_actor_is_killed(
    cluster: RayCluster, model: Path, data: Path, tmp_path: Path
) -> None:
    alone = figures_of(started(model, data, tmp_path / "alone"))

    running = started(model, data, tmp_path / "ray", "--ray", cluster.address, **cluster.environment)
    cluster.kill([eventually(cluster.actors, WITHIN_S)[0]])

    assert figures_of(running) == alone
    assert (alone["pictures"], len(alone["unread"])) == (399, 1)


def test_an_interrupted_run_goes_on_after_the_answers_that_it_has(
    cluster: RayCluster, model: Path, data: Path, tmp_path: Path
) -> None:
    first = started(model, data, tmp_path, "--ray", cluster.address, **cluster.environment)
    kept = eventually(lambda: list(tmp_path.rglob("*.jsonl")), WITHIN_S)[0]
    eventually(lambda: kept.stat().st_size > 0 or first.poll() is not None, WITHIN_S)
    first.send_signal(signal.SIGINT)
    _, errors = first.communicate(timeout=WITHIN_S)
    assert first.returncode == 130, errors

    second = started(model, data, tmp_path, "--ray", cluster.address, **cluster.environment)

    assert figures_of(second) == figures_of(started(model, data, tmp_path / "alone"))


def test_a_cluster_that_is_not_there_is_one_clear_line(model: Path, data: Path, tmp_path: Path) -> None:
    nowhere = started(model, data, tmp_path, "--ray", f"127.0.0.1:{free_port()}")
    _, errors = nowhere.communicate(timeout=WITHIN_S)

    assert "not a Ray head node" in errors
    assert (nowhere.returncode, errors.count("\n")) == (2, 1)
