"""The state of the machine during a measurement; no test here judges how fast it is."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from tests.eventually import in_background
from tests.perf.machine_state import MachineState, Speed, label
from tests.perf.quartiles import Quartiles, left_out, states_of
from tests.perf.quiet import Business, busy, ours, processor_time_s

ALONE, SHARED = Speed(85, 165), Speed(85, 92)


@pytest.mark.parametrize(
    ("speed", "state"),
    [(ALONE, "two-core"), (SHARED, "one-core"), (Speed(80, 310), "4-core"), (Speed(90, 40), "one-core")],
)
def test_a_state_is_named_by_the_cores_that_the_processors_are_worth(speed: Speed, state: str) -> None:
    assert speed.state == state


def test_a_turn_has_the_state_that_it_had_before_and_after_if_others_were_quiet() -> None:
    assert label(ALONE, ALONE, others=0.01) == "two-core"
    assert label(SHARED, SHARED, others=0.08) == "one-core"
    assert label(ALONE, SHARED, others=0.01) == "changed"
    assert label(ALONE, ALONE, others=0.09) == "disturbed"


def test_a_state_of_three_turns_has_figures_and_turns_that_are_left_out_are_counted() -> None:
    states = ["one-core"] * 3 + ["two-core"] * 4 + ["disturbed"] * 5 + ["changed", "4-core"]

    assert states_of(states) == ["two-core", "one-core"]
    assert left_out(states) == {"disturbed": 5, "changed": 1}


def test_quartiles_are_the_middle_half() -> None:
    found = Quartiles.of([1.0, 2.0, 3.0, 4.0, 50.0])

    assert found == Quartiles(2.0, 3.0, 4.0, 5)
    assert found.text(1) == "3.0 (2.0 to 4.0)"
    with pytest.raises(ValueError, match="2 values are too few"):
        Quartiles.of([1.0, 2.0])


def test_the_probe_multiplies_on_one_processor_and_on_all() -> None:
    with MachineState() as machine:
        speed = machine.speed()

    assert speed.one > 0
    assert speed.every > 0


def test_a_probe_that_was_killed_is_an_error() -> None:
    with MachineState() as machine:
        for child in psutil.Process().children():
            if "machine_state" in " ".join(child.cmdline()):
                child.kill()

        with pytest.raises(RuntimeError, match="has ended"):
            machine.speed()


def test_what_is_measured_comes_back_with_its_state() -> None:
    with MachineState(most_others=float("inf")) as machine:
        found, turn = machine.during(lambda: "found")

    assert found == "found"
    assert turn.state == "changed" or turn.state.endswith("-core")


def spin(stopped: threading.Event) -> None:
    while not stopped.is_set():
        pass


def test_the_time_of_our_own_threads_and_children_is_not_that_of_others() -> None:
    before_s, start = ours(), time.monotonic()
    with in_background(spin):
        time.sleep(0.2)

    assert 0 < ours() - before_s <= time.monotonic() - start + 0.02


def test_the_time_of_a_child_that_has_ended_and_was_waited_for_is_ours() -> None:
    before_s = ours()
    subprocess.run([sys.executable, "-c", "import time\nwhile time.process_time() < 0.3: pass"], check=True)

    assert ours() - before_s > 0.25


def test_the_time_of_a_process_is_what_the_kernel_says() -> None:
    me = psutil.Process()
    assert processor_time_s(me.pid) == pytest.approx(sum(me.cpu_times()[:2]), abs=0.05)
    with pytest.raises(OSError, match="Invalid argument"):
        processor_time_s(int(Path("/proc/sys/kernel/pid_max").read_text()))


def test_processors_are_busy_for_as_long_as_they_are_not_idle() -> None:
    before_s, business = busy(), Business()
    with in_background(spin):
        time.sleep(0.3)

    assert busy() - before_s > 0.1  # of the one that we kept busy, or others all of them
    assert business.others() >= 0
