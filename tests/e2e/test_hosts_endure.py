"""One fault after another for as long as one likes: every frame is accounted for, and nobody's memory grows."""

import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import psutil
import pytest

from tests.e2e.pipeline import THREE, Pipeline, three_hosts
from trials.soak.levels import Levels

pytestmark = pytest.mark.deep

MINUTES = float(os.environ.get("EDGED_FAULT_MINUTES", "0.05"))  # memory is judged from about 5 minutes on
SEED = int(os.environ.get("EDGED_FAULT_SEED", "4"))
BACK_S = 2.0  # from the end of a fault to the next prediction
LOOKS = 4  # after each fault
SEEN = 6  # predictions from one look to the next


@contextmanager
def standing_still(running: Pipeline, host: str) -> Iterator[None]:
    process = psutil.Process(running.processes[host].pid)
    process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        process.send_signal(signal.SIGCONT)


FAULTS: dict[str, Callable[[Pipeline, str], AbstractContextManager[None]]] = {
    "is cut off": lambda running, name: running.hosts[name].cut_off(),
    "is unplugged": lambda running, name: running.hosts[name].unplugged(),
    "loses a fifth": lambda running, name: running.hosts[name].losing(0.2),
    "has 2 Mbit/s": lambda running, name: running.hosts[name].slow("2mbit"),
    "stands still": standing_still,
}


@pytest.mark.promise("predictions go on within 2 s of the end of a fault")
def test_nothing_is_lost_and_nothing_grows_whatever_happens(tmp_path: Path) -> None:
    dice, levels, took = random.Random(SEED), Levels(), [0.0]  # noqa: S311 (no secret)
    with three_hosts(tmp_path) as running:
        end_s = time.monotonic() + 60 * MINUTES
        while time.monotonic() < end_s:
            host, fault, lasts_s = dice.choice([*THREE]), dice.choice([*FAULTS]), dice.uniform(0.2, 6.0)
            with FAULTS[fault](running, host):
                time.sleep(lasts_s)
            took.append(running.goes_on())
            print(f"{host} {fault} for {lasts_s:.1f} s: the next prediction {took[-1]:.2f} s later", flush=True)
            for _ in range(LOOKS):
                running.goes_on(SEEN)
                for process in running.processes.values():
                    levels.look(process.pid)
        print(f"{len(took) - 1} faults, {max(took):.2f} s at most; grown by {levels.growth()} (MB, open files)")
        assert levels.faults() == []
        assert max(took) < BACK_S
        assert running.is_whole()
        print(running.summary)
