"""Facts of a healthy board without a GPU, to which a test adds what it is about."""

from dataclasses import replace
from typing import Any

from edged.doctor.facts import DeviceFile, Disk, Drivers, ExaminedDevice, Facts, System, TriedStep
from edged.messages import HostState

POCL = ExaminedDevice(
    platform="Portable Computing Language",
    name="pthread-cortex-a72",
    kind="cpu",
    version="OpenCL 3.0 PoCL",
    driver="6.0",
    fp16=False,
    compute_units=4,
    memory_bytes=2**32,
    tried=(
        TriedStep("peaks", {"flops_per_s": 40e9, "bytes_per_s": 5e9}),
        TriedStep("launches", {"launch_s": 5e-6, "alone_s": 3e-5}),
        TriedStep("digits", {"seconds": 0.004}),
        TriedStep("plain auto", {"error": 1e-7, "layers": 8}),
        TriedStep("plain winograd", {"error": 2e-6, "layers": 8}),
    ),
)
RUSTICL = replace(POCL, platform="rusticl", name="Mali-G610 (Panfrost)", kind="gpu", driver="26.2.1", fp16=True)
RENDER = DeviceFile("/dev/dri/renderD128", "panthor", "render", "crw-rw----", usable=True)
NO_DRIVERS = Drivers(nodes=(), modules=(), vendors={"pocl.icd": "libpocl.so.2"}, libmali=(), variables={})


def system(**changes: Any) -> System:
    return replace(
        System(
            board="a board",
            system="Debian GNU/Linux 13",
            kernel="6.12",
            architecture="aarch64",
            processor="",
            processors=4,
            python="3.13.0",
            edged="0.1.0",
            memory=2**32,
            available=2**31,
            host=HostState(celsius={}, frequencies={}),
            trips={},
            governors={},
            disks=(Disk("caches", "/var/cache/edged", 2**33, 2**34, writable=True, temporary=False),),
        ),
        **changes,
    )


def board(**changes: Any) -> Facts:
    return replace(
        Facts(
            system=system(),
            drivers=NO_DRIVERS,
            devices=(POCL,),
            devices_problem="",
            cameras=(),
            rails=(),
            unreadable_rails=(),
            rails_note="not measured",
            user="ann",
            unit=None,
            config_file="/etc/edged/edged.yaml",
            config_problem="",
            config={},
            overrides=(),
            checked=(),
            workers=(),
        ),
        **changes,
    )
