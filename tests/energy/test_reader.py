"""A file that blocks delays its reader once, for the bound; counters and integrals sum up the energy of jobs."""

import logging
import os
import threading
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edged.energy import bounded, reader
from edged.energy.meter import Meter
from edged.energy.rails import Rail
from edged.energy.reader import CounterSum, PowerIntegral, Reader, joules_between
from tests.eventually import eventually

WRAP = 262143.0


def rails_in(folder: Path, *names: str) -> list[Rail]:
    for name in names:
        (folder / name).write_text("2000000\n")
    return [Rail(name, folder / name) for name in names]


def block(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def test_rails_that_block_are_set_aside_and_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, passed: list[float]
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(reader, "PAUSE_S", 0.01)
    before = set(threading.enumerate())
    rails = rails_in(tmp_path, "GPU", "BIG", "SYS")
    reads = Reader(rails)
    assert reads.read() == {"GPU": 2.0, "BIG": 2.0, "SYS": 2.0}
    for name in ("GPU", "SYS"):
        block(tmp_path / name)

    for _ in range(4):
        assert reads.read() == {"BIG": 2.0}
        assert passed == [bounded.BOUND_S] * 2  # once for each, in the first reading
    new = set(threading.enumerate()) - before
    assert [thread.name for thread in new] == ["rails"] * 3  # the reader's own, and one for each that blocks

    for name in ("GPU", "SYS"):  # the driver answers at last, and from then on
        (tmp_path / f"{name}.new").write_text("3000000\n")
        pipe = os.open(tmp_path / name, os.O_RDWR | os.O_NONBLOCK)
        (tmp_path / f"{name}.new").replace(tmp_path / name)
        os.write(pipe, b"5\n")
        os.close(pipe)
    assert eventually(lambda: reads.read() if len(reads.read()) == 3 else None) == {
        "GPU": 3.0,
        "BIG": 2.0,
        "SYS": 3.0,
    }
    reads.close()
    told = {
        name: [record.message for record in caplog.records if name in record.message] for name in ("GPU", "SYS")
    }
    for name, messages in told.items():
        assert "cannot be read now" in messages[0]
        assert messages[-1] == f"rail {name} is read again"


def test_a_rail_of_power_that_blocks_leaves_the_sampling_of_the_others_alone(tmp_path: Path) -> None:
    gpu, soc = [Rail(rail.name, rail.path, gives="watts") for rail in rails_in(tmp_path, "GPU", "SOC")]
    meter = Meter([gpu, soc], attributed_rails=("SOC",), sample_hz=100)
    block(tmp_path / "GPU")

    def measures() -> bool:
        spent = meter.finish_job()  # since the look before
        return spent.joules is not None and spent.joules > 0 and spent.rails["GPU"] == 0

    meter.start_job()
    eventually(measures)
    meter.close()


class Clock:
    """Goes on when it is told to."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.mark.parametrize("gives", ["joules", "watts"])
def test_a_rail_that_reads_zero_for_a_minute_is_left_out_until_it_reads_something_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, gives: Literal["joules", "watts"]
) -> None:
    caplog.set_level(logging.INFO)
    clock = Clock()
    gpu, big = [Rail(rail.name, rail.path, gives=gives) for rail in rails_in(tmp_path, "GPU", "BIG")]
    reads = Reader([gpu, big], clock)
    gpu.path.write_text("0\n")

    def after(seconds: float) -> dict[str, float]:
        clock.now_s += seconds
        return reads.read()

    first, soon, late, later = [after(seconds) for seconds in (0, 59, 1, 3600)]
    gpu.path.write_text("4000000\n")
    again = after(1)
    gpu.path.write_text("0\n")
    at_zero = after(1)

    assert first == soon == at_zero == {"GPU": 0.0, "BIG": 2.0}
    assert late == later == {"BIG": 2.0}
    assert again == {"GPU": 4.0, "BIG": 2.0}
    reported, back = [record.message for record in caplog.records]
    assert "rail GPU has read exactly 0 for 60 s" in reported
    assert "energy.rails" in reported
    assert back == "rail GPU is read again"


def test_a_battery_that_charges_does_not_read_zero(tmp_path: Path) -> None:
    clock = Clock()
    battery = Rail("BAT", tmp_path / "power1_input", gives="watts")
    battery.path.write_text("-3000000\n")
    reads = Reader([battery], clock)

    reads.read()
    clock.now_s += 61

    assert reads.read() == {"BAT": 0.0}


@given(before=st.floats(0, WRAP), added=st.floats(0, WRAP / 2 - 1))
def test_a_wrap_loses_nothing(before: float, added: float) -> None:
    now = (before + added) % WRAP

    assert joules_between(before, now, WRAP) == pytest.approx(added, abs=1e-6)


@given(before=st.floats(1, 1e6), now=st.floats(0, 0.5))
def test_a_counter_without_a_range_that_goes_down_was_reset(before: float, now: float) -> None:
    assert joules_between(before, now, None) is None


def test_a_reset_is_not_taken_for_a_wrap() -> None:
    assert joules_between(before=1000.0, now=3.0, range_joules=WRAP) is None


def test_joules_while_a_counter_cannot_be_read_count_at_no_known_moment() -> None:
    counted = CounterSum()
    counted.add_reading(10.0)
    before = counted.level()
    counted.add_reading(None)
    during = counted.level()
    counted.add_reading(14.0)
    after = counted.level()

    assert (before.known, during.known, after.known) == (0, None, 0)
    assert after.joules - before.joules == 4.0


def test_power_holds_until_the_next_reading() -> None:
    clock = Clock()
    power = PowerIntegral(10, clock)
    power.add_reading(5.0)
    clock.now_s += 0.06
    between = power.level()
    clock.now_s += 0.04
    power.add_reading(20.0)
    clock.now_s += 0.1
    after = power.level()

    assert (between.joules, after.joules) == pytest.approx((0.3, 2.5))
    assert between.known == after.known is not None


@pytest.mark.parametrize("way", ["late", "failed"])
def test_a_gap_between_readings_of_power_is_not_filled(way: str) -> None:
    clock = Clock()
    power = PowerIntegral(10, clock)
    power.add_reading(5.0)
    before = power.level()
    if way == "failed":
        power.add_reading(None)
    clock.now_s += 3.0
    during = power.level()
    power.add_reading(5.0)
    after = power.level()

    assert during.known is None
    assert before.known != after.known is not None
    assert before.joules == during.joules == after.joules


@given(st.lists(st.tuples(st.floats(0, 100), st.floats(0.001, 0.1), st.booleans()), max_size=20))
def test_asking_between_readings_changes_nothing_and_never_goes_back(
    steps: list[tuple[float, float, bool]],
) -> None:
    clock = Clock()
    asked, unasked = PowerIntegral(10, clock), PowerIntegral(10, clock)
    joules = [0.0]
    for watts, seconds, asks in steps:
        asked.add_reading(watts)
        unasked.add_reading(watts)
        clock.now_s += seconds
        if asks:
            joules.append(asked.level().joules)

    assert joules == sorted(joules)
    assert asked.level() == unasked.level()
