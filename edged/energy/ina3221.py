"""Find channels of TI's INA3221, a power monitor of Jetsons and others: mV × mA = µW for each of three channels.

Interface: Linux, Documentation/hwmon/ina3221.rst. in4 to in6 are shunt voltages in µV and curr4 is a sum of
currents: they look like a fourth channel, but are not.
"""

from collections.abc import Iterator
from pathlib import Path

from edged.energy.rails import Rail, text_of

DEVICE = "ina3221"
CHANNELS = (1, 2, 3)
ALL_OF_THE_BOARD = {"VDD_IN", "POM_5V_IN"}  # input rail of a Jetson: it includes the other rails, and more


def channels(folder: Path) -> Iterator[Rail]:
    """Yield the connected channels, unless the driver reports power itself."""
    for number in CHANNELS:
        current, volts = folder / f"curr{number}_input", folder / f"in{number}_input"
        label = text_of(folder / f"in{number}_label")
        is_off = text_of(folder / f"in{number}_enable") == "0" and not label  # treat as not connected
        if is_off or (folder / f"power{number}_input").exists() or not (current.exists() or volts.exists()):
            continue
        name = label or f"{DEVICE}.{number}"
        yield Rail(name, current, overlaps=name in ALL_OF_THE_BOARD, gives="watts", times=volts)
