"""Sysfs trees as drivers show them, built in a temporary directory."""

from pathlib import Path

from tests.energy.sysfs import hwmon_device


def write(folder: Path, **files: object) -> Path:
    """A folder with these files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_text(f"{content}\n")
    return folder


def zone(root: Path, number: int, kind: str, millidegrees: object) -> Path:
    """A thermal zone."""
    return write(root / "class/thermal" / f"thermal_zone{number}", type=kind, temp=millidegrees)


def policy(root: Path, first: int, now: object, limit: object, maximum: object) -> Path:
    """A cpufreq policy, in kHz, by the number of its first processor."""
    folder = root / "devices/system/cpu/cpufreq" / f"policy{first}"
    return write(folder, scaling_cur_freq=now, scaling_max_freq=limit, cpuinfo_max_freq=maximum)


def gpu(root: Path, now: object, limit: object, steps: str, name: str = "2d000000.gpu") -> Path:
    """A devfreq device, in Hz."""
    return write(root / "class/devfreq" / name, cur_freq=now, max_freq=limit, available_frequencies=steps)


def juno(root: Path) -> None:
    """A Juno r1: SCPI's sensors, its zones, two clusters and no devfreq."""
    labels = ("PMIC", "SOC", "BIG", "LITTLE", "GPU_0", "GPU_1")
    channels = {f"temp{n}": (f"SENSOR_TEMP_{label}", 40_000 + n) for n, label in enumerate(labels, 1)}
    hwmon_device(root, 0, "scpi_sensors", **channels)
    policy(root, 0, 450_000, 850_000, 850_000)
    policy(root, 1, 600_000, 600_000, 1_100_000)


def rk3588(root: Path) -> None:
    """An RK3588: zones, which hwmon shows once more; three clusters; GPU and memory."""
    for number, kind in enumerate(("package-thermal", "bigcore0-thermal", "gpu-thermal")):
        zone(root, number, kind, 50_000 + 1000 * number)
        hwmon_device(root, number, kind.replace("-", "_"), temp1=(None, 50_000))
    policy(root, 0, 408_000, 1_800_000, 1_800_000)
    policy(root, 4, 2_256_000, 2_256_000, 2_400_000)
    gpu(root, 300_000_000, 850_000_000, "300000000 850000000 1000000000", "fb000000.gpu")
    gpu(root, 528_000_000, 2_112_000_000, "528000000 2112000000", "dmc")
