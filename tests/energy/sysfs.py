"""Sysfs trees as drivers show them, built in a temporary directory."""

from pathlib import Path

JUNO = {"SYS": 27697142, "BIG": 3956123, "LITTLE": 778037, "GPU": 2142136}  # µJ
JUNO_MILLIWATTS = {"SYS": 1430, "BIG": 305, "LITTLE": 62, "GPU": 74}
JETSON = {1: ("VDD_IN", 5032, 952), 2: ("VDD_CPU_GPU_CV", 5032, 224), 3: ("VDD_SOC", 5024, 288)}  # mV, mA


def hwmon_device(root: Path, number: int, name: str, **channels: tuple[str | None, int]) -> Path:
    """A hwmon device; `channels` like energy1=("label", microjoules)."""
    folder = root / "class/hwmon" / f"hwmon{number}"
    folder.mkdir(parents=True)
    (folder / "name").write_text(f"{name}\n")
    for channel, (label, value) in channels.items():
        (folder / f"{channel}_input").write_text(f"{value}\n")
        if label is not None:
            (folder / f"{channel}_label").write_text(f"{label}\n")
    return folder


def juno(root: Path, number: int = 1) -> Path:
    """A Juno r1 with the driver scpi_sensors, behind another device so that numbers mean nothing."""
    hwmon_device(root, 0, "acpitz", temp1=(None, 40000))
    return hwmon_device(root, number, "scpi_sensors", **_juno_channels("BOARD_ENERGY_", "BOARD_POWER_"))


def scmi_juno(root: Path, *, with_energy: bool = True) -> Path:
    """The same with scmi_sensors; without energy it is as its firmware has been since March 2020."""
    channels = _juno_channels("BRD_ENRG_", "BRD_PWR_") if with_energy else _juno_voltages()
    return hwmon_device(root, 0, "scmi_sensors", **channels)


def old_juno(root: Path, *, with_energy: bool = True) -> None:
    """The same with v2m-juno-hwmon: a device a sensor, no labels, and power in mW."""
    sensors: list[tuple[str, str, int]] = []
    for part, rail in {"sys": "SYS", "a57": "BIG", "a53": "LITTLE", "gpu": "GPU"}.items():
        sensors += [(f"{part}_volt", "in1", 900), (f"{part}_curr", "curr1", 300)]
        sensors += [(f"{part}_power", "power1", JUNO_MILLIWATTS[rail])]
        sensors += [(f"{part}_energy", "energy1", JUNO[rail])] if with_energy else []
    for number, (name, channel, value) in enumerate(sensors):
        hwmon_device(root, number, name, **{channel: (None, value)})


def rapl_server(root: Path, range_microjoules: int = 262143328850) -> dict[str, Path]:
    """Two packages with cores and memory, the platform, the first package by MMIO once more: all counters."""
    zones = {
        **{f"intel-rapl:{n}": f"package-{n}" for n in (0, 1)},
        **{f"intel-rapl:{n}:0": "core" for n in (0, 1)},
        **{f"intel-rapl:{n}:1": "dram" for n in (0, 1)},
        "intel-rapl:2": "psys",
        "intel-rapl-mmio:0": "package-0",
    }
    (root / "class/powercap/intel-rapl").mkdir(parents=True)  # the control type: it has no counter
    return {zone: powercap_zone(root, zone, name, 5_000_000, range_microjoules) for zone, name in zones.items()}


def jetson(root: Path, number: int = 3) -> Path:
    """A Jetson's ina3221: three channels, their shunts, and the sum of these, as the driver shows them."""
    folder = hwmon_device(root, number, "ina3221", in7=("sum of shunt voltages", 7280), curr4=(None, 1464))
    for channel, (label, millivolts, milliamperes) in JETSON.items():
        for file, value in {
            f"in{channel}_label": label,
            f"in{channel}_enable": 1,
            f"in{channel}_input": millivolts,
            f"curr{channel}_input": milliamperes,
            f"in{channel + 3}_input": 5 * milliamperes,  # µV across the shunt
        }.items():
            (folder / file).write_text(f"{value}\n")
    return folder


def powercap_zone(
    root: Path, zone: str, name: str, microjoules: int, range_microjoules: int = 262143328850
) -> Path:
    """A RAPL zone; returns its counter."""
    folder = root / "class/powercap" / zone
    folder.mkdir(parents=True)
    (folder / "name").write_text(f"{name}\n")
    (folder / "max_energy_range_uj").write_text(f"{range_microjoules}\n")
    counter = folder / "energy_uj"
    counter.write_text(f"{microjoules}\n")
    return counter


def _juno_channels(energy: str, power: str) -> dict[str, tuple[str | None, int]]:
    rails = list(enumerate(JUNO, 1))
    energies: dict[str, tuple[str | None, int]] = {f"energy{n}": (energy + rail, JUNO[rail]) for n, rail in rails}
    powers = {f"power{n}": (power + rail, 1000 * JUNO_MILLIWATTS[rail]) for n, rail in rails}
    return {**energies, **powers, **_juno_voltages()}


def _juno_voltages() -> dict[str, tuple[str | None, int]]:
    """Voltages and currents with numbers that do not fit each other: no product of them is a power."""
    return {
        "in0": ("SENSOR_VOLT_BIG", 900),
        "in1": ("SENSOR_VOLT_LITTLE", 900),
        "in3": ("BOARD_VOLT_SYS", 900),
        "curr1": ("BOARD_CURR_SYS", 300),
        "temp1": ("SENSOR_TEMP_PMIC", 40000),
    }
