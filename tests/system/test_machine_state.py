"""The state of the machine during a measurement; no test here judges how fast it is."""

import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from bench.quartiles import Quartiles, left_out, states_of
from edged.errors import EdgedError
from edged.system.machine_probe import _times_the_fastest, _wake_ratio
from edged.system.machine_state import TRIES, UNWATCHED, Account, MachineState, Speed, in_one_state, label, watch
from edged.system.processor_use import ProcessorUse, busy, ours, processor_time_s
from tests.eventually import in_background
from tests.system.scripted_machine import ScriptedMachine

ALONE, SHARED, SLOW = Speed(85, 165, 2, 2.0), Speed(85, 92, 2, 2.0), Speed(85, 165, 2, 2.0, wake=16.0)


@pytest.mark.parametrize(
    ("speed", "state"),
    [
        (ALONE, "two-core"),
        (SHARED, "one-core"),
        (Speed(80, 310, 4, 4.0), "4-core"),
        (Speed(80, 165, 4, 4.0), "two-core"),
        (Speed(100, 640, 8, 8.0), "8-core"),  # all together have a lower clock than one alone
        (Speed(90, 40, 2, 2.0), "one-core"),
        (Speed(0.4, 0.4, 1, 1.0), "one-core"),  # a board with one processor, without FMA
        (Speed(9, 24, 6, 2.67), "6-core"),  # two fast and four slow processors
        (Speed(85, 165, 2, 2.0, wake=7.2), "two-core"),
        (Speed(85, 165, 2, 2.0, wake=16.0), "two-core slow-wake"),
        (Speed(85, 92, 2, 2.0, wake=16.0), "one-core slow-wake"),
        (Speed(85, 165, 2, 2.0, handoff_s=170e-9), "two-core"),
        (Speed(85, 165, 2, 2.0, handoff_s=430e-9), "two-core apart"),
        (Speed(85, 165, 2, 2.0, wake=16.0, handoff_s=430e-9), "two-core apart slow-wake"),
    ],
)
def test_a_state_is_named_by_the_cores_that_the_processors_are_worth(speed: Speed, state: str) -> None:
    assert speed.state == state


def test_a_turn_has_the_state_that_it_had_before_and_after_if_others_were_quiet() -> None:
    assert label(ALONE, ALONE, others=0.01) == "two-core"
    assert label(SHARED, SHARED, others=0.08) == "one-core"
    assert label(ALONE, SHARED, others=0.01) == "changed"
    assert label(SLOW, SLOW, others=0.01) == "two-core slow-wake"
    assert label(ALONE, SLOW, others=0.01) == "changed"
    assert label(ALONE, ALONE, others=0.09) == "disturbed"


def test_processors_of_two_kinds_are_as_fast_together_as_the_sum_of_their_kinds() -> None:
    assert _times_the_fastest([80.0, 85.0]) == 2.0  # equal ones differ by chance
    assert _times_the_fastest([1.5, 1.5, 1.5, 1.5, 9.0, 9.0]) == pytest.approx(2 + 4 / 6)


def test_the_state_of_most_runs_counts_and_the_others_are_named() -> None:
    account = Account.of(["two-core"] * 4 + ["one-core"] * 3 + ["disturbed"] * 5 + ["changed"])

    assert account.state == "two-core"
    assert [state for state in account.runs if account.counts(state)] == ["two-core"]
    assert str(account) == (
        "state of the machine: two-core, in 4 of 13 runs; left out: 5 disturbed, 3 one-core, 1 changed"
    )
    assert account.as_object()["runs"] == {"disturbed": 5, "two-core": 4, "one-core": 3, "changed": 1}


def test_what_is_compared_is_of_one_state_that_both_have() -> None:
    assert Account.of(["one-core", "one-core", "two-core"], ["two-core", "disturbed"]).state == "two-core"


def test_where_each_turn_was_disturbed_all_count_and_the_output_warns() -> None:
    account = Account.of(["disturbed", "changed"])

    assert account.state is None
    assert account.counts("disturbed")
    assert "WARNING" in str(account)
    assert "(1 disturbed, 1 changed)" in str(account)


def test_a_turn_is_repeated_until_it_counts_but_not_for_ever() -> None:
    recovers, stays = ScriptedMachine("changed", "disturbed", "one-core"), ScriptedMachine("disturbed")
    flips = ScriptedMachine("one-core", "two-core")

    assert [turn.state for turn in in_one_state(recovers, lambda: None)[1]] == ["changed", "disturbed", "one-core"]
    assert len(in_one_state(stays, lambda: None)[1]) == TRIES
    assert [turn.state for turn in in_one_state(flips, lambda: None, "two-core")[1]] == ["one-core", "two-core"]


def test_a_machine_whose_processors_compute_nothing_is_not_looked_at() -> None:
    with watch(computes=False) as machine:
        assert machine is UNWATCHED
        found, turn = machine.during(lambda: "found")

    assert found == "found"
    assert "not looked at" in str(Account.of([turn.state]))


def test_a_probe_on_one_processor_takes_no_second_look() -> None:
    script = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "from edged.system.machine_state import MachineState\n"
        "with MachineState() as machine:\n    print(machine.speed().state, machine.speed().processors)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["one-core", "1"]  # nor does it wake anything


def test_a_processor_is_slow_to_wake_compared_with_a_thread_on_the_same_one() -> None:
    processors = sorted(os.sched_getaffinity(0))

    assert _wake_ratio(processors[0], processors[0]) == 1.0
    assert _wake_ratio(processors[0], processors[-1]) > 0


def test_a_state_of_three_turns_has_figures_and_turns_that_are_left_out_are_counted() -> None:
    states = ["one-core"] * 3 + ["two-core"] * 4 + ["disturbed"] * 5 + ["changed", "4-core"]
    states += ["two-core slow-wake"] * 3

    assert states_of(states) == ["two-core", "two-core slow-wake", "one-core"]
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
            if "machine_probe" in " ".join(child.cmdline()):
                child.kill()

        with pytest.raises(EdgedError, match="has ended"):
            machine.speed()


def test_what_is_measured_comes_back_with_its_state() -> None:
    with MachineState(most_others=float("inf")) as machine:
        found, turn = machine.during(lambda: "found")

    assert found == "found"
    assert re.fullmatch(r"changed|\w+-core( apart)?( slow-wake)?", turn.state)


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
    before_s, business = busy(), ProcessorUse()
    with in_background(spin):
        time.sleep(0.3)

    assert busy() - before_s > 0.1  # of the one that we kept busy, or others all of them
    assert business.others() >= 0
