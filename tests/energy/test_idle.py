"""What rails draw anyway is measured once for each start of the machine, and taken off the joules of jobs."""

from pathlib import Path

import pytest

from edged.config import EnergyConfig
from edged.energy import meter
from edged.energy.find import find_rails
from edged.energy.meter import Meter, meter_of
from tests.energy.supply import Stepped
from tests.energy.sysfs import jetson, juno


def test_it_is_measured_at_the_first_start_and_kept_for_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jetson(tmp_path)
    (tmp_path / "boot_id").write_text("first\n")
    monkeypatch.setattr(meter, "BOOT", tmp_path / "boot_id")
    rails = find_rails(EnergyConfig(sysfs=tmp_path, sample_hz=100, idle_s=0.1))

    measured = meter_of(rails, tmp_path).idle_watts
    current = tmp_path / "class/hwmon/hwmon3/curr3_input"
    current.write_text("0\n")
    kept = meter_of(rails, tmp_path).idle_watts

    assert kept == measured == pytest.approx({"VDD_CPU_GPU_CV": 5.032 * 0.224, "VDD_SOC": 5.024 * 0.288}, rel=0.1)
    (tmp_path / "boot_id").write_text("second\n")
    assert meter_of(rails, tmp_path).idle_watts["VDD_SOC"] == 0


def test_what_was_kept_is_measured_anew_where_it_is_damaged_or_cannot_be_kept(tmp_path: Path) -> None:
    juno(tmp_path)
    (tmp_path / "idle-watts.json").write_text("{")
    rails = find_rails(EnergyConfig(sysfs=tmp_path, idle_s=0.01))

    assert meter_of(rails, tmp_path).idle_watts == dict.fromkeys(["SYS", "BIG", "LITTLE", "GPU"], 0.0)
    assert meter_of(rails, Path("/proc/nowhere")).idle_watts.keys() == {"SYS", "BIG", "LITTLE", "GPU"}


def test_it_is_not_measured_unless_it_is_asked_for(tmp_path: Path) -> None:
    juno(tmp_path)

    assert meter_of(find_rails(EnergyConfig(sysfs=tmp_path)), tmp_path).idle_watts == {}


class Watch:
    """The meter's clock, which goes on when it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._ns = 0
        monkeypatch.setattr(meter, "now_ns", lambda: self._ns)

    def goes_on(self, seconds: float) -> None:
        self._ns += round(1e9 * seconds)


def test_what_would_have_been_spent_anyway_is_taken_off_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpu, watch = Stepped(tmp_path, "GPU"), Watch(monkeypatch)
    measures = Meter([gpu.rail])
    measures.idle_watts = {"GPU": 20.0}

    measures.start_job()
    jobs = []
    for joules in (0.0, 3.0, 4.0):  # a counter that is slower than the first job
        watch.goes_on(0.1)
        gpu.spend(joules)
        jobs.append(measures.finish_job())

    assert [job.joules for job in jobs] == pytest.approx([0, 0, 1])
    assert [job.idle for job in jobs] == pytest.approx([0, 3, 3])


def test_a_counter_slower_than_the_jobs_gives_none_of_them_what_was_idle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpu, watch = Stepped(tmp_path, "GPU"), Watch(monkeypatch)
    measures = Meter([gpu.rail])
    measures.idle_watts = {"GPU": 20.0}

    measures.start_job()
    watch.goes_on(0.02)
    first = measures.finish_job()
    measures.start_job()
    gpu.spend(0.4)
    second = measures.finish_job()

    assert first.joules == 0
    assert second.joules == pytest.approx(0, abs=1e-6)


def test_what_is_owed_does_not_grow_where_rails_draw_less_than_they_did_at_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpu, watch = Stepped(tmp_path, "GPU"), Watch(monkeypatch)
    measures = Meter([gpu.rail])
    measures.idle_watts = {"GPU": 20.0}

    measures.start_job()
    for _ in range(100):
        watch.goes_on(1)
        assert measures.finish_job().joules == 0
    gpu.spend(25)

    assert measures.finish_job().joules == pytest.approx(5)
