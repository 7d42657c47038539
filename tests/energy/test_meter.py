"""Each joule goes to one job, one that cannot be known to none; idle power is measured once per boot."""

import tempfile
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edged.config import EnergyConfig
from edged.energy import meter as meter_module
from edged.energy import reader, zeros
from edged.energy.find import find_rails
from edged.energy.meter import Meter, meter_of
from edged.energy.rails import Rail
from edged.energy.reader import PowerIntegral
from tests.energy.supply import Stepped
from tests.energy.sysfs import jetson, juno
from tests.eventually import LIMIT_S

RANGE = 4000.0


def test_a_job_alone_gets_what_was_spent_while_it_ran(tmp_path: Path) -> None:
    gpu = Stepped(tmp_path, "GPU")
    meter = Meter([gpu.rail])

    gpu.spend(4)  # idle
    meter.start_job()
    gpu.spend(0.5)  # busy
    spent = meter.finish_job()

    assert spent.joules == pytest.approx(0.5)
    assert spent.rails == {"GPU": pytest.approx(4.5)}


def test_jobs_that_overlap_share_the_joules_without_counting_one_twice(tmp_path: Path) -> None:
    gpu, big = Stepped(tmp_path, "GPU"), Stepped(tmp_path, "BIG")
    meter = Meter([gpu.rail, big.rail])

    meter.start_job()
    gpu.spend(0.2)
    first = meter.finish_job()
    gpu.spend(0.1)
    big.spend(0.6)
    second = meter.finish_job()

    assert first.joules == pytest.approx(0.2)
    assert second.joules == pytest.approx(0.7)
    assert second.rails == {"GPU": pytest.approx(0.1), "BIG": pytest.approx(0.6)}


Events = st.lists(st.tuples(st.sampled_from(["submit", "finish", "wait"]), st.integers(0, 30)), max_size=25)


@settings(deadline=None, max_examples=50)  # each reading is another thread's, on a machine that may be busy
@given(Events, st.integers(1, 3999))
def test_the_sum_over_jobs_is_what_the_rails_supplied_while_there_were_any(
    events: list[tuple[str, int]], begins_at: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        gpu, big = Stepped(Path(folder), "GPU", RANGE), Stepped(Path(folder), "BIG")
        gpu.spend(begins_at)  # there is a wrap ahead
        meter = Meter([gpu.rail, big.rail])
        jobs, busy, told, in_flight = 0.0, 0.0, 0.0, 0
        for event, joules in [*events, *[("finish", 1)] * len(events)]:
            gpu.spend(joules)
            big.spend(joules / 4)
            busy += 1.25 * joules if in_flight else 0
            if event == "submit":
                if not in_flight:
                    meter.start_job()
                in_flight += 1
            elif event == "finish" and in_flight:
                spent = meter.finish_job()
                jobs += spent.joules or 0
                told += sum(spent.rails.values())
                in_flight -= 1
        meter.start_job()
        told += sum(meter.pop_rail_joules().values())
        meter.close()

    assert jobs == pytest.approx(busy, abs=1e-4)
    assert told == pytest.approx(gpu.joules + big.joules - begins_at - 2, abs=1e-4)


def test_a_job_has_the_joules_of_its_devices_rails_and_reports_all_rails(tmp_path: Path) -> None:
    gpu, big = Stepped(tmp_path, "GPU"), Stepped(tmp_path, "BIG")
    meter = Meter([gpu.rail, big.rail], attributed_rails=("GPU",))

    meter.start_job()
    gpu.spend(1)
    big.spend(7)
    spent = meter.finish_job()

    assert meter.attributed_rails == ("GPU",)
    assert spent.joules == pytest.approx(1)
    assert spent.rails == {"GPU": pytest.approx(1), "BIG": pytest.approx(7)}


def test_a_rail_that_a_job_should_bear_and_nobody_reads_leaves_it_without_a_figure(tmp_path: Path) -> None:
    meter = Meter([Stepped(tmp_path, "BIG").rail], attributed_rails=("GPU",))
    meter.start_job()

    assert meter.finish_job().joules is None


def test_after_a_reset_one_job_has_no_figure_and_the_next_one_has(tmp_path: Path) -> None:
    gpu = Stepped(tmp_path, "GPU")
    meter = Meter([gpu.rail])

    meter.start_job()
    gpu.restart()
    spent_over_reset = meter.finish_job()
    gpu.spend(0.3)
    spent_after = meter.finish_job()

    assert (spent_over_reset.joules, spent_over_reset.rails) == (None, {"GPU": 0.0})
    assert spent_after.joules == pytest.approx(0.3)


def test_a_rail_that_vanishes_leaves_jobs_without_joules_and_the_other_rails_reported(
    tmp_path: Path,
) -> None:
    gpu, big = Stepped(tmp_path, "GPU"), Stepped(tmp_path, "BIG")
    meter = Meter([gpu.rail, big.rail])

    meter.start_job()
    big.rail.path.unlink()
    gpu.spend(0.5)
    without = meter.finish_job()
    big.spend(2)
    back = meter.finish_job()
    big.spend(1)
    whole = meter.finish_job()

    assert (without.joules, without.rails) == (None, {"GPU": pytest.approx(0.5), "BIG": 0.0})
    assert back.joules is None
    assert back.rails["BIG"] == pytest.approx(2)
    assert whole.joules == pytest.approx(1)


def test_a_counter_that_stands_at_zero_leaves_jobs_without_joules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zeros, "ZERO_S", 0.0)
    gpu, big = Stepped(tmp_path, "GPU"), Stepped(tmp_path, "BIG")
    big.rail.path.write_text("0\n")
    meter = Meter([gpu.rail, big.rail])

    meter.start_job()
    gpu.spend(0.5)
    without = meter.finish_job()
    big.spend(4000)
    back = meter.finish_job()
    big.spend(1)
    whole = meter.finish_job()

    assert (without.joules, without.rails) == (None, {"GPU": pytest.approx(0.5), "BIG": 0.0})
    assert (back.joules, back.rails["BIG"]) == (None, 0.0)
    assert whole.joules == pytest.approx(1)


def test_where_there_are_no_rails_processor_time_is_an_estimate_or_there_is_no_figure() -> None:
    nothing, estimate = Meter([]), Meter([], attributed_rails=("GPU",), watts_per_core=10.0)
    before = time.process_time()
    for meter in (nothing, estimate):
        meter.start_job()
    begun = time.process_time()
    while (least_s := time.process_time() - begun) < 0.02:
        pass
    spent, without = estimate.finish_job(), nothing.finish_job()
    most_s = time.process_time() - before

    assert without.joules is None
    assert spent.joules is not None
    assert 10 * least_s <= spent.joules <= 10 * most_s
    assert estimate.attributed_rails == ("processor",)


def test_power_alone_is_added_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "PATIENCE_S", LIMIT_S)  # a busy machine reads late
    rail = Rail("SOC", tmp_path / "power1_input", gives="watts")
    rail.path.write_text("8000000\n")
    meter = Meter([rail], sample_hz=100)

    before = time.monotonic()
    meter.start_job()
    begun = time.monotonic()
    time.sleep(0.05)
    least_s = time.monotonic() - begun
    spent = meter.finish_job()
    most_s = time.monotonic() - before
    meter.close()

    assert spent.joules is not None
    assert 8 * least_s <= spent.joules <= 8 * most_s


def passes_while_the_meter_sleeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of the meter and of its samples: none passes but in its sleep."""
    watch = Watch(monkeypatch)
    monkeypatch.setattr(meter_module, "time", SimpleNamespace(sleep=watch.goes_on))
    monkeypatch.setattr(reader, "PowerIntegral", partial(PowerIntegral, clock=watch.seconds))


def test_it_is_measured_at_the_first_start_and_kept_for_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jetson(tmp_path)
    (tmp_path / "boot_id").write_text("first\n")
    monkeypatch.setattr(meter_module, "BOOT", tmp_path / "boot_id")
    passes_while_the_meter_sleeps(monkeypatch)
    rails = find_rails(EnergyConfig(sysfs=tmp_path, sample_hz=100, idle_s=0.1))

    measured = meter_of(rails, tmp_path).idle_watts
    current = tmp_path / "class/hwmon/hwmon3/curr3_input"
    current.write_text("0\n")
    kept = meter_of(rails, tmp_path).idle_watts

    assert kept == measured == pytest.approx({"VDD_CPU_GPU_CV": 5.032 * 0.224, "VDD_SOC": 5.024 * 0.288})
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
    """The meter's clock, which advances by `goes_on` alone."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._ns = 0
        monkeypatch.setattr(meter_module, "now_ns", lambda: self._ns)

    def goes_on(self, seconds: float) -> None:
        self._ns += round(1e9 * seconds)

    def seconds(self) -> float:
        return self._ns / 1e9


def meter_of_an_idle_gpu(gpu: Stepped) -> Meter:
    """A meter of the rail `GPU` alone, which draws 20 W when idle."""
    meter = Meter([gpu.rail])
    meter.idle_watts = {"GPU": 20.0}
    return meter


def test_what_would_have_been_spent_anyway_is_taken_off_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpu, watch = Stepped(tmp_path, "GPU"), Watch(monkeypatch)
    measures = meter_of_an_idle_gpu(gpu)

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
    measures = meter_of_an_idle_gpu(gpu)

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
    measures = meter_of_an_idle_gpu(gpu)

    measures.start_job()
    for _ in range(100):
        watch.goes_on(1)
        assert measures.finish_job().joules == 0
    gpu.spend(25)

    assert measures.finish_job().joules == pytest.approx(5)
