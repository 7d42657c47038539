"""Each joule goes to one job; resets and wraps never invent one."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edged.energy.meter import Meter
from edged.energy.rails import Rail, joules_between

WRAP = 262143.0


def counter(folder: Path, name: str, range_joules: float | None = None) -> Rail:
    """A rail at 1 J."""
    set_joules(rail := Rail(name, folder / name, range_joules), 1.0)
    return rail


def set_joules(rail: Rail, joules: float) -> None:
    rail.path.write_text(f"{round(joules * 1e6)}\n")


@given(before=st.floats(0, WRAP), added=st.floats(0, WRAP / 2 - 1))
def test_a_wrap_loses_nothing(before: float, added: float) -> None:
    now = (before + added) % WRAP

    assert joules_between(before, now, WRAP) == pytest.approx(added, abs=1e-6)


@given(before=st.floats(1, 1e6), now=st.floats(0, 0.5))
def test_a_counter_without_a_range_that_goes_down_was_reset(before: float, now: float) -> None:
    assert joules_between(before, now, None) is None


def test_a_reset_is_not_taken_for_a_wrap() -> None:
    assert joules_between(before=1000.0, now=3.0, range_joules=WRAP) is None


def test_a_job_alone_gets_what_was_spent_while_it_ran(tmp_path: Path) -> None:
    rail = counter(tmp_path, "GPU")
    meter = Meter([rail])

    set_joules(rail, 5.0)  # idle
    meter.begin()
    set_joules(rail, 5.5)  # busy
    spent = meter.end()

    assert spent.joules == pytest.approx(0.5)
    assert spent.rails == {"GPU": pytest.approx(4.5)}


def test_jobs_that_overlap_share_the_joules_without_counting_one_twice(tmp_path: Path) -> None:
    gpu, big = counter(tmp_path, "GPU"), counter(tmp_path, "BIG")
    meter = Meter([gpu, big])

    meter.begin()
    set_joules(gpu, 1.2)
    first = meter.end()
    set_joules(gpu, 1.3)
    set_joules(big, 1.6)
    second = meter.end()

    assert first.joules == pytest.approx(0.2)
    assert second.joules == pytest.approx(0.7)
    assert second.rails == {"GPU": pytest.approx(0.1), "BIG": pytest.approx(0.6)}


def test_after_a_reset_one_job_has_no_figure_and_the_next_one_has(tmp_path: Path) -> None:
    rail = counter(tmp_path, "GPU")
    meter = Meter([rail])

    meter.begin()
    set_joules(rail, 0.1)
    spent_over_reset = meter.end()
    set_joules(rail, 0.4)
    spent_after = meter.end()

    assert (spent_over_reset.joules, spent_over_reset.rails) == (None, {"GPU": 0.0})
    assert spent_after.joules == pytest.approx(0.3)


def test_a_rail_that_vanishes_leaves_the_others_told_and_the_job_without_a_sum(tmp_path: Path) -> None:
    gpu, big = counter(tmp_path, "GPU"), counter(tmp_path, "BIG")
    meter = Meter([gpu, big])

    meter.begin()
    big.path.unlink()
    set_joules(gpu, 1.5)
    spent = meter.end()

    assert spent.joules is None
    assert spent.rails == {"GPU": pytest.approx(0.5), "BIG": 0.0}


def test_without_rails_there_is_no_figure() -> None:
    meter = Meter([])
    meter.begin()

    assert meter.end().joules is None
