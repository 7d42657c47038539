"""A board is taught five labels of its own while it runs: recorded, trained, looked at, promoted, taken back."""

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

import pytest

from edged.camera.sources.synthetic import SHAPES
from edged.client import Prediction, subscribe
from tests.cli.command import DEVICES
from tests.e2e.daemon import Daemon, config_in, conserves, run_edged
from tests.eventually import eventually, in_background
from tests.given_time import GivenTime

CROPS = 60
FRESH = 40  # frames of each label that are looked at
COMMAND_S = 600.0  # on a machine that is busy
OVERLOAD = {"link_full", "superseded", "stale", "shutdown"}  # what a busy machine drops, never a worker


def teach(daemon: Daemon, action: str, *options: str | float) -> str:
    """What `edged teach` prints."""
    command = [
        sys.executable,
        "-m",
        "edged",
        "teach",
        action,
        str(daemon.folder / "edged.yaml"),
        *map(str, options),
    ]
    environment = {**os.environ, "XDG_STATE_HOME": str(daemon.folder)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=COMMAND_S, env=environment, check=False)
    assert done.returncode == 0, done.stderr + daemon.log()
    return done.stdout


@contextmanager
def stream_of(daemon: Daemon) -> Iterator[list[Prediction]]:
    """All its predictions from now on, as they come."""
    heard: list[Prediction] = []

    def listen(stop: threading.Event) -> None:
        for prediction in subscribe(daemon.address, timeout_s=COMMAND_S):
            heard.append(prediction)
            if stop.is_set():
                return

    with in_background(listen):
        yield heard


def changes_of(heard: list[Prediction]) -> list[tuple[str, int]]:
    """Each model that has answered, with the number of its first prediction."""
    runs = groupby(list(heard), lambda prediction: prediction.model.sha256)
    return [(model, next(run).seq) for model, run in runs]


def share_right(heard: list[Prediction], model: str, shapes: list[str]) -> dict[str, float]:
    """Of the frames that `model` has answered, by their true label."""
    answers: dict[str, list[bool]] = {shape: [] for shape in shapes}
    for prediction in heard:
        if prediction.model.sha256 == model:
            answers[str(prediction.truth)].append(prediction.top[0].label == prediction.truth)
    return {shape: sum(right) / len(right) for shape, right in answers.items()}


def number_in(said: str) -> int:
    """The one of the first prediction."""
    found = re.search(r"from prediction (\d+) on", said)
    assert found, said
    return int(found[1])


@pytest.mark.deep
def test_two_shapes_are_taught_to_digits_while_it_runs(tmp_path: Path) -> None:
    teach_shapes(tmp_path, list(SHAPES)[:2], "numpy")


@pytest.mark.promise("five labels are taught within two minutes")
def test_five_shapes_are_taught_to_digits_while_it_runs(tmp_path: Path) -> None:
    assert teach_shapes(tmp_path, list(SHAPES), DEVICES[-1]) < 120


def teach_shapes(tmp_path: Path, shapes: list[str], device: str) -> float:
    """Record, train, shadow, promote, roll back; return given seconds until the new version answers for all."""
    cameras = {
        shape: {"source": f"synthetic:{shape}", "size": [160, 120], "fps": 15, "seed": place}
        for place, shape in enumerate(shapes, 1)
    }
    config = config_in(
        tmp_path,
        cameras=cameras,
        model={"name": "digits"},
        workers=[{"device": device}],
        freshness={"deadline_s": 10},  # training takes the cores: a worker that is slow meanwhile is not lost
    )
    with run_edged(tmp_path, config=config) as daemon:
        daemon.first(1)
        given = GivenTime()
        with stream_of(daemon) as heard:
            for shape in shapes:
                options = ("--camera", shape, "--label", shape, "--count", CROPS, "--every", 0.1, "--json")
                assert json.loads(teach(daemon, "record", *options))["new"] == CROPS
            trained = teach(daemon, "train")
            shadow = json.loads(teach(daemon, "shadow", "--duration", 2, "--json"))
            there = number_in(teach(daemon, "promote"))
            version = eventually(lambda: changes_of(heard)[1:], COMMAND_S)[0][0]
            eventually(lambda: all(fresh(heard, version, shape) >= FRESH for shape in shapes), COMMAND_S)
            told = daemon.metrics()
            took_s = given.seconds()
            back = number_in(teach(daemon, "rollback"))
            base = heard[0].model.sha256
            eventually(lambda: len(changes_of(heard)) == 3, COMMAND_S)
        summary = daemon.stop()

    print(f"taught in {took_s:.1f} s: {share_right(heard, version, shapes)}\n{trained}\n{shadow}")
    assert changes_of(heard) == [(base, heard[0].seq), (version, there), (base, back)]
    numbers = [each.seq for each in heard]
    assert numbers == sorted(set(numbers))
    withdrawn = numbers[-1] + 1 - numbers[0] - len(numbers)  # too old by the time that they could be sent
    assert withdrawn <= summary["dropped"].get("stale", 0)
    right = share_right(heard, version, shapes)
    assert sum(right.values()) / len(shapes) >= 0.95, right
    assert {label.label for each in heard if each.model.sha256 == version for label in each.top} == set(shapes)
    assert f'edged_model_info{{base="{base}",model=' in told
    assert f'sha256="{version}"}} 1.0' in told
    assert set(summary["dropped"]) <= OVERLOAD
    assert conserves(summary)
    return took_s


def fresh(heard: list[Prediction], version: str, shape: str) -> int:
    return sum(each.truth == shape for each in list(heard) if each.model.sha256 == version)
