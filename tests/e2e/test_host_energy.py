"""Two workers on one host read the same counters: its energy is counted once, and told under its name."""

from pathlib import Path

import pytest

from tests.e2e.daemon import SYNTHETIC
from tests.e2e.pipeline import EDGED, config_in, pipeline
from tests.energy.supply import Supply
from tests.energy.sysfs import powercap_zone
from tests.eventually import eventually, in_background
from tests.system.sysfs import zone

pytestmark = pytest.mark.deep

WATTS = 100
LABELS = '{method="measured",node="big",rail="package-0"}'


def seen_by(root: Path) -> tuple[str, ...]:
    """A program whose /sys/class is the one below `root`, for it alone."""
    mounts = f"mount --make-rprivate /sys && mount --bind {root}/class /sys/class"
    alone = ("unshare", "--mount", "--propagation", "unchanged")  # a chroot's / cannot be changed
    return (*alone, "sh", "-c", f'{mounts} && exec "$@"', "sh", *EDGED)


def test_two_workers_of_a_host_count_its_energy_once(tmp_path: Path) -> None:
    workers = [{"device": "numpy", "host": "big", "group": "all"}] * 2
    cameras = {"yard": {**SYNTHETIC, "fps": 200, "size": [64, 48], "host": "gate"}}
    supply = Supply(powercap_zone(tmp_path, "intel-rapl:0", "package-0", 0), WATTS)
    zone(tmp_path, 0, "cpu-thermal", 61_000)
    config = config_in(tmp_path, workers=workers, cameras=cameras)
    with in_background(supply.run), pipeline(tmp_path, "hub", "gate", "big", config=config) as running:
        running.start("hub", "run", "--json")
        for index in "01":
            running.start(f"big-{index}", "worker", index, on="big", by=seen_by(tmp_path))
            assert running.says("hub", f"worker big-{index} is ready")

        def joules() -> float:
            lines = running.metrics().splitlines()
            return next((float(line.split()[-1]) for line in lines if f"joules_total{LABELS}" in line), 0.0)

        running.start("gate", "camera", "yard")
        eventually(lambda: {each["model"]["worker"] for each in running.predictions(-50)} == {"big-0", "big-1"})
        before, begin = joules(), supply.joules
        eventually(lambda: supply.joules > begin + 2 * WATTS)
        counted, spent = joules() - before, supply.joules - begin
        print(f"{counted:.0f} J counted of {spent:.0f} J")
        assert counted == pytest.approx(spent, rel=0.25)
        shown = 'edged_temperature_celsius{node="big",sensor="cpu-thermal"} 61.0'
        eventually(lambda: shown in running.metrics().splitlines())
        assert running.is_whole()
        told = [each["energy"]["joules"] for each in running.predictions()]
        assert 0 < sum(told) <= supply.joules
