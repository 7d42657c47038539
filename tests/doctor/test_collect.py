"""Facts are read from a board's own files: here those of an RK3588 with its GPU's open driver."""

import os
from pathlib import Path

import pytest

from edged.doctor.collect_service import workers_in
from edged.doctor.collect_system import read_drivers, read_system
from edged.doctor.facts import RunningWorker


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The root of a board's file system."""
    for name, content in {
        "etc/os-release": 'NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 13 (trixie)"\n',
        "etc/OpenCL/vendors/rusticl.icd": "libRusticlOpenCL.so.1\n",
        "proc/device-tree/model": "Radxa ROCK 5B\0",
        "proc/cpuinfo": "processor\t: 0\nBogoMIPS\t: 48.00\n",
        "proc/meminfo": "MemTotal:       8000000 kB\nMemAvailable:   6000000 kB\n",
        "proc/self/mounts": "rootfs / ext4 rw 0 0\n",
        "sys/class/thermal/thermal_zone0/type": "gpu-thermal",
        "sys/class/thermal/thermal_zone0/temp": "45000",
        "sys/class/thermal/thermal_zone0/trip_point_0_type": "passive",
        "sys/class/thermal/thermal_zone0/trip_point_0_temp": "85000",
        "sys/class/thermal/thermal_zone0/trip_point_1_type": "critical",
        "sys/class/thermal/thermal_zone0/trip_point_1_temp": "115000",
        "sys/class/devfreq/fb000000.gpu/governor": "simple_ondemand",
        "sys/devices/system/cpu/cpufreq/policy0/scaling_governor": "schedutil",
        "sys/module/panthor/version": "",
        "sys/bus/platform/drivers/panthor/bind": "",
        "sys/class/drm/renderD128/device/uevent": "",
        "dev/dri/renderD128": "",
        "usr/lib/aarch64-linux-gnu/libmali.so.1": "",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    os.symlink(tmp_path / "sys/bus/platform/drivers/panthor", tmp_path / "sys/class/drm/renderD128/device/driver")
    return tmp_path


def test_the_machine_is_described(root: Path) -> None:
    system = read_system({"caches": root / "var/cache/edged"}, root)
    assert system.board == "Radxa ROCK 5B"
    assert system.system == "Debian GNU/Linux 13 (trixie)"
    assert system.available == 6_000_000 * 1024
    assert system.trips == {"gpu-thermal": 85.0}
    assert system.host.celsius == {"gpu-thermal": 45.0}
    assert system.governors == {"policy0": "schedutil", "fb000000.gpu": "simple_ondemand"}
    [disk] = system.disks
    assert disk.path == str(root / "var/cache/edged")
    assert not disk.temporary


def test_the_drivers_are_described(root: Path) -> None:
    drivers = read_drivers({"RUSTICL_ENABLE": "panfrost", "HOME": "/root"}, root)
    [node] = drivers.nodes
    assert (node.path, node.driver, node.usable) == ("/dev/dri/renderD128", "panthor", True)
    assert drivers.modules == ("panthor",)
    assert drivers.vendors == {"rusticl.icd": "libRusticlOpenCL.so.1"}
    assert drivers.libmali == ("/usr/lib/aarch64-linux-gnu/libmali.so.1",)
    assert drivers.variables == {"RUSTICL_ENABLE": "panfrost"}


def test_a_machine_without_anything_is_described(tmp_path: Path) -> None:
    assert read_system({}, tmp_path).board == "unknown"
    assert read_drivers({}, tmp_path).nodes == ()


def test_workers_are_read_from_the_metrics_of_a_daemon() -> None:
    metrics = """# TYPE edged_worker_up gauge
edged_worker_up{device="pthread-AMD \\"x\\"",worker="local-0"} 1.0
edged_worker_up{device="NumPy",worker="local-1"} 1.0
edged_worker_serving{worker="local-0"} 1.0
edged_worker_serving{worker="local-1"} 0.0
"""
    assert workers_in(metrics) == (
        RunningWorker("local-0", 'pthread-AMD \\"x\\"', ready=True, serving=True),
        RunningWorker("local-1", "NumPy", ready=True, serving=False),
    )
