"""The daemon's joules, against a supply whose energy is known, and against the worker's processor time."""

import os
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.e2e.daemon import Daemon, config_in, run_edged
from tests.energy.supply import Supply
from tests.energy.sysfs import powercap_zone
from tests.eventually import eventually, in_background

pytestmark = pytest.mark.deep

WATTS = 50
TICKS_S = 0.02  # how exactly the kernel tells of a process's two times
TOTAL = "edged_energy_joules_total"


def value(daemon: Daemon, name: str, **labels: str) -> float:
    """0 while there is no such sample."""
    samples = [s for family in text_string_to_metric_families(daemon.metrics()) for s in family.samples]
    return next((s.value for s in samples if s.name == name and labels.items() <= s.labels.items()), 0.0)


def test_predictions_bear_their_devices_rail_and_one_that_blocks_changes_nothing(tmp_path: Path) -> None:
    package = powercap_zone(tmp_path / "sys", "intel-rapl:0", "package-0", 0)
    memory = powercap_zone(tmp_path / "sys", "intel-rapl:0:0", "dram", 7)
    supply = Supply(package, WATTS)
    workers = [{"device": "numpy", "rails": ["package-0"]}]
    config = config_in(tmp_path, workers=workers, energy={"sysfs": str(tmp_path / "sys"), "idle_s": 0.2})

    with in_background(supply.run), run_edged(tmp_path, config=config) as daemon:
        assert {(each.energy.method, each.energy.rails) for each in daemon.first(5)} == {
            ("measured", ("package-0",))
        }
        memory.unlink()
        os.mkfifo(memory)
        since = supply.joules - value(daemon, TOTAL, rail="package-0")
        eventually(lambda: value(daemon, TOTAL, rail="package-0") > 2 * WATTS)
        eventually(lambda: abs(value(daemon, TOTAL, rail="package-0") + since - supply.joules) < WATTS / 5)
        assert value(daemon, "edged_idle_watts", rail="package-0") > 0
        assert all(each.energy.joules is not None for each in daemon.first(3))


def test_without_a_rail_joules_are_estimated_from_the_workers_processor_time(tmp_path: Path) -> None:
    config = config_in(tmp_path, energy={"rails": "none", "watts_per_core": 50})

    with run_edged(tmp_path, config=config) as daemon:
        first, worker = daemon.first(1)[0].energy, daemon.child("worker")

        def joules() -> float:
            return value(daemon, TOTAL, rail="processor")

        def processor_s() -> float:
            return float(sum(worker.cpu_times()[:2]))

        before, begin_s = joules(), processor_s()
        eventually(lambda: joules() > before + 4)
        end_s = processor_s()
        daemon.first(2)
        after, all_s = joules(), processor_s()

        assert (first.method, first.rails) == ("estimated", ("processor",))
        assert (first.joules or 0) > 0
        assert after - before >= 50 * (end_s - begin_s - TICKS_S)
        assert after <= 50 * (all_s + TICKS_S)
