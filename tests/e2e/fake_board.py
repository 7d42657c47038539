"""What a board's drivers show below /sys: a power supply, sensors of heat, clocks."""

import threading
from pathlib import Path

from tests.energy.sysfs import hwmon_device

STEP_S = 0.05
RAILS = {"SYS": 1, "BIG": 2, "GPU": 3}  # number of the channel
CLOCK_HZ = 600_000_000


class FakeBoard:
    """A Juno's sensors; `watts` of each rail, `celsius` and `limit_hz` may be changed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.watts = 1.0
        self.joules = 0.0
        energies = {f"energy{n}": (f"BOARD_ENERGY_{rail}", 0) for rail, n in RAILS.items()}
        self._hwmon = hwmon_device(root, 0, "scpi_sensors", temp1=("SENSOR_TEMP_SOC", 0), **energies)
        self._clock = root / "class/devfreq/2d000000.gpu"
        self._clock.mkdir(parents=True)
        (self._clock / "available_frequencies").write_text(f"{CLOCK_HZ // 2} {CLOCK_HZ}\n")
        self.heat(45.0, CLOCK_HZ)

    def heat(self, celsius: float, limit_hz: int) -> None:
        """How hot it is, and which clock is allowed so."""
        _write(self._hwmon / "temp1_input", round(1000 * celsius))
        _write(self._clock / "max_freq", limit_hz)
        _write(self._clock / "cur_freq", limit_hz)

    def supply(self, stopped: threading.Event) -> None:
        """Until then its counters go on."""
        while not stopped.wait(STEP_S):
            self.joules += self.watts * STEP_S
            for number in RAILS.values():
                _write(self._hwmon / f"energy{number}_input", round(1e6 * self.joules))


def _write(path: Path, value: int) -> None:
    new = path.with_name(f"new.{path.name}")
    new.write_text(f"{value}\n")
    new.replace(path)
