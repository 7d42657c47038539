"""What `edged doctor` says of a board, and the line that fixes it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from edged.camera.discover import CameraFound
from edged.doctor.driver_defects import known_defects, version_of
from edged.doctor.facts import (
    DeviceFile,
    Disk,
    Drivers,
    Facts,
    RunningWorker,
    ServiceUnit,
    TriedStep,
)
from edged.doctor.finding import Finding, Kind
from edged.doctor.judge_board import judge
from edged.doctor.report import page
from edged.energy.rails import Unreadable
from edged.messages import Frequency, HostState
from tests.doctor.facts_of_a_board import NO_DRIVERS, POCL, RENDER, RUSTICL, board, system

MALI = DeviceFile("/dev/mali0", "mali", "root", "crw-------", usable=False)
OPEN_MALI = replace(MALI, group="render", mode="crw-rw----", usable=True)
WITH_RUSTICL = {"pocl.icd": "libpocl.so.2", "rusticl.icd": "libRusticlOpenCL.so.1"}


PROMISED = Finding(
    "ok", "worker 0", "auto: Mali-G610 (Panfrost); runs the model", kind=Kind.SERVES, device="Mali-G610 (Panfrost)"
)


def to_fix(facts: Facts) -> list[Finding]:
    return [each for each in judge(facts) if each.level == "error"]


def the_error(facts: Facts) -> Finding:
    [finding] = to_fix(facts)
    return finding


def notes(facts: Facts) -> str:
    return "\n".join(f"{each.what}: {each.text}" for each in judge(facts) if each.level == "warning")


def gpu(*nodes: DeviceFile, **changes: Any) -> Drivers:
    return replace(NO_DRIVERS, nodes=nodes, **changes)


def test_a_healthy_board_has_nothing_to_mend() -> None:
    assert to_fix(board()) == []
    assert page(judge(board())).endswith("nothing to fix")


def test_a_render_node_that_the_user_may_not_open() -> None:
    node = replace(RENDER, usable=False)
    found = the_error(board(drivers=gpu(node), devices=(RUSTICL,)))
    assert found.commands == ("sudo usermod -aG render ann  # then log in again",)


def test_a_device_file_that_no_group_may_open_gets_a_group_first() -> None:
    found, _ = to_fix(board(drivers=gpu(MALI, libmali=("/usr/lib/libmali.so",))))
    assert found.commands[0] == "sudo chgrp render /dev/mali0"
    assert found.commands[-1] == "sudo usermod -aG render ann  # then log in again"


@pytest.mark.parametrize("kernel", ["panfrost", "panthor"])
def test_rusticl_that_is_not_switched_on_for_the_gpu(kernel: str) -> None:
    drivers = gpu(replace(RENDER, driver=kernel), vendors=WITH_RUSTICL)
    found = the_error(board(drivers=drivers))
    assert "Mesa before 26.2 uses this GPU only with RUSTICL_ENABLE=panfrost" in found.text
    assert found.commands[0] == "export RUSTICL_ENABLE=panfrost"


def test_rusticl_that_takes_halves_one_by_one() -> None:
    drivers = gpu(RENDER, vendors=WITH_RUSTICL)
    facts = board(drivers=drivers, devices=(replace(RUSTICL, driver="25.0.7", fp16=False),))
    (found,) = (each for each in judge(facts) if each.what == "fp16")
    assert (found.level, found.commands[0]) == ("warning", "export RUSTICL_FEATURES=fp16")
    assert "more accesses than fp32" in found.text


def test_rusticl_that_is_not_installed() -> None:
    found = the_error(board(drivers=gpu(RENDER)))
    assert found.commands == ("sudo apt install mesa-opencl-icd",)


def test_rusticl_that_is_switched_on_but_finds_no_gpu() -> None:
    on = {"RUSTICL_ENABLE": "llvmpipe,panfrost"}
    found = the_error(board(drivers=gpu(RENDER, vendors=WITH_RUSTICL, variables=on)))
    assert "lists no GPU" in found.text


def test_rusticl_on_the_gpu_beside_a_libmali_that_this_kernel_cannot_use() -> None:
    drivers = gpu(RENDER, vendors=WITH_RUSTICL, libmali=("/usr/lib/libmali.so",))
    facts = board(drivers=drivers, devices=(RUSTICL,))
    assert to_fix(facts) == []
    assert "/usr/lib/libmali.so needs the vendor's kernel driver mali" in notes(facts)


def test_libmali_that_the_loader_does_not_know() -> None:
    found = the_error(board(drivers=gpu(OPEN_MALI, libmali=("/usr/lib/libmali.so",))))
    assert found.commands == ("echo /usr/lib/libmali.so | sudo tee /etc/OpenCL/vendors/mali.icd",)


def test_libmali_on_its_device() -> None:
    arm = replace(RUSTICL, platform="ARM Platform", name="Mali-G610 r0p0", driver="3.0")
    assert to_fix(board(drivers=gpu(OPEN_MALI), devices=(arm,))) == []


def test_no_driver_at_all() -> None:
    drivers = replace(NO_DRIVERS, vendors={})
    found = the_error(board(drivers=drivers, devices=()))
    assert found.commands == ("sudo apt install pocl-opencl-icd",)


def test_a_variable_that_hides_the_drivers() -> None:
    drivers = replace(NO_DRIVERS, variables={"OCL_ICD_VENDORS": "/nonexistent"})
    assert the_error(board(drivers=drivers, devices=())).commands == ("unset OCL_ICD_VENDORS",)


def test_a_driver_that_crashes_while_it_is_loaded() -> None:
    problem = "the OpenCL devices cannot be listed: its process was killed by SIGSEGV (a driver crashes)"
    drivers = replace(NO_DRIVERS, vendors=WITH_RUSTICL)
    found = the_error(board(drivers=drivers, devices=(), devices_problem=problem))
    assert found.text == f"{problem}; remove or update the driver: try one at a time"
    assert found.commands[1] == "OCL_ICD_VENDORS=/etc/OpenCL/vendors/rusticl.icd edged doctor"


def test_a_variant_that_fails_is_a_note_and_a_network_that_fails_is_to_mend() -> None:
    wrong = TriedStep("plain winograd", problem="conv_winograd computes layer wide wrongly")
    facts = board(devices=(replace(POCL, tried=(wrong,)),))
    assert to_fix(facts) == []
    assert "self-test, plain winograd: conv_winograd computes" in notes(facts)
    crash = TriedStep(
        "digits", problem="pthread-cortex-a72: no self-test: the driver ended its process by SIGABRT"
    )
    found = the_error(board(devices=(replace(POCL, tried=(crash,)),)))
    assert found.text.startswith("self-test, digits: no self-test: the driver ended its process by SIGABRT")


def test_the_figures_of_a_slow_device_have_digits() -> None:
    slow = (
        TriedStep("peaks", {"flops_per_s": 34e6, "bytes_per_s": 2.1e8}),
        TriedStep("launches", {"launch_s": 5.2e-6, "alone_s": 3.1e-3}),
        TriedStep("digits", {"seconds": 1.0}),
    )
    found = {each.what: each.text for each in judge(board(devices=(replace(POCL, tried=slow),)))}
    assert found["speed"] == "0.034 GFLOP/s, 0.21 GB/s, a launch 5.2 µs, alone 3100 µs"
    assert found["digits"] == "1.0 frames per second, measured"


def test_a_camera_without_permission() -> None:
    reason = "permission denied: add this user to the group `video`"
    found = the_error(board(cameras=(CameraFound("cam", "/dev/video0", reason),)))
    assert found.commands == ("sudo usermod -aG video ann  # then log in again",)


def test_a_rail_that_cannot_be_read() -> None:
    rail = Unreadable("package", Path("/sys/x"), "permission denied", ("sudo chmod a+r /sys/x",))
    assert the_error(board(unreadable_rails=(rail,))).commands == ("sudo chmod a+r /sys/x",)


def test_a_disk_that_is_full_or_closed() -> None:
    disk = Disk("journal", "/var/lib/edged", 2**20, 2**34, writable=True, temporary=False)
    assert "free at least 0.5 GiB" in the_error(board(system=system(disks=(disk,)))).text
    closed = replace(disk, free=2**33, writable=False)
    assert "not writable" in the_error(board(system=system(disks=(closed,)))).text


def test_a_board_that_is_hot_and_slowed_down() -> None:
    clock = Frequency(now=600_000_000, limit=600_000_000, maximum=1_800_000_000)
    host = HostState(celsius={"cpu": 84.0}, frequencies={"policy0": clock})
    facts = board(system=system(host=host, trips={"cpu": 85.0}, governors={"policy0": "schedutil"}))
    assert "the kernel acts at 85 °C: cool the board" in the_error(facts).text
    assert "held at 600 MHz" in notes(facts)


def test_a_mistake_in_the_config() -> None:
    found = the_error(board(config_problem="edged.yaml:1:1: unknown key 'camera'"))
    assert found.text.startswith("edged.yaml:1:1")


def test_what_check_reports_is_taken_over() -> None:
    checked = (Finding("error", "publish.address", "is in use"), Finding("warning", "worker 0", "no such device"))
    facts = board(checked=checked)
    assert the_error(facts).text == "is in use"
    assert "worker 0: no such device" in notes(facts)


def test_an_address_that_the_service_itself_may_use_is_a_note() -> None:
    in_use = Finding("error", "metrics.address", "127.0.0.1:9464 is in use", kind=Kind.ADDRESS_IN_USE)
    active = ServiceUnit("active (running)", "enabled", "success", "0", ("video", "render"))
    facts = board(checked=(in_use,), unit=active)
    assert to_fix(facts) == []
    assert "the service runs, so it may be the one" in notes(facts)


def test_a_daemon_that_computes_elsewhere_than_check_promises() -> None:
    worker = RunningWorker("local-0", "pthread-cortex-a72", ready=True, serving=True)
    found = the_error(board(checked=(PROMISED,), workers=(worker,)))
    assert "pthread-cortex-a72, serving; `edged check` promises auto: Mali-G610" in found.text


def test_a_file_with_a_mistake_promises_nothing_of_the_daemon_that_runs() -> None:
    worker = RunningWorker("local-0", "pthread-cortex-a72", ready=True, serving=True)
    problem = "edged.yaml:1:1: unknown key 'camera'"
    found = the_error(board(config_problem=problem, checked=(PROMISED,), workers=(worker,)))
    assert found.text == problem


def test_a_worker_that_should_serve_but_does_not() -> None:
    worker = RunningWorker("local-0", "Mali-G610 (Panfrost)", ready=False, serving=False)
    assert "it should serve" in the_error(board(checked=(PROMISED,), workers=(worker,))).text


def test_a_unit_that_failed_and_one_that_may_not_open_the_gpu() -> None:
    failed = ServiceUnit("failed (failed)", "enabled", "exit-code", "3", ("video", "render"))
    assert "last result: exit-code" in the_error(board(unit=failed)).text
    active = ServiceUnit("active (running)", "enabled", "success", "0", ("video", "render"))
    odd = replace(RENDER, group="gpu")
    found = the_error(board(unit=active, drivers=gpu(odd), devices=(RUSTICL,)))
    assert found.commands[0].endswith("SupplementaryGroups=video render gpu")


@pytest.mark.parametrize(
    ("platform", "driver", "expected"),
    [
        ("rusticl", "22.3.6", "too old"),
        ("rusticl", "25.0.7-2", "llvm.prefetch"),
        ("rusticl", "26.2.2", "Patched Mesa libclc"),
        ("Portable Computing Language", "3.0", "does not know newer AMD"),
        ("Portable Computing Language", "3.1+debian", "/sys is not mounted"),
    ],
)
def test_defects_are_known_by_platform_and_version(platform: str, driver: str, expected: str) -> None:
    device = replace(POCL, platform=platform, driver=driver)
    assert any(expected in defect.what for defect in known_defects(device))


@pytest.mark.parametrize(
    ("platform", "driver", "absent"),
    [
        ("rusticl", "26.1.6", "Patched Mesa libclc"),
        ("rusticl", "26.2.1", "llvm.prefetch"),
        ("rusticl", "unknown", "too old"),
        ("Portable Computing Language", "6.0", "/sys is not mounted"),
    ],
)
def test_defects_of_other_versions_are_not_reported(platform: str, driver: str, absent: str) -> None:
    device = replace(POCL, platform=platform, driver=driver)
    assert not any(absent in defect.what for defect in known_defects(device))


def test_versions_are_read_out_of_what_drivers_say() -> None:
    assert version_of("25.0.7-2") == (25, 0, 7)
    assert version_of("OpenCL 3.0 PoCL") == (3, 0)
    assert version_of("unknown") == ()


def test_the_page_fits_80_columns_and_keeps_commands_whole() -> None:
    rail = Unreadable(
        "package", Path(f"/sys/{'x' * 70}"), "permission denied", (f"sudo chmod a+r {'/sys/y ' * 20}",)
    )
    text = page(judge(board(unreadable_rails=(rail,), drivers=gpu(replace(RENDER, usable=False)))))
    assert max(len(line) for line in text.splitlines() if "xxx" not in line) <= 80
    joined = text.replace(" \\\n", " ")
    assert " ".join(joined.split()).count("/sys/y") == 20
    assert "# then log in again" in text
