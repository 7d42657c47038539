"""What `edged doctor` has read on this host: values alone, which hold no secret."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from edged.camera.discover import CameraFound
from edged.doctor.finding import Finding
from edged.energy.rails import Unreadable
from edged.messages import HostState


@dataclass(frozen=True)
class Disk:
    """The file system of a folder; bytes. `temporary`: it is in memory, so that a restart empties it."""

    what: str
    path: str
    free: int
    total: int
    writable: bool
    temporary: bool


@dataclass(frozen=True)
class System:
    """The machine and its operating system; memory in bytes, temperatures of `trips` in °C.

    `trips`: by thermal zone, the lowest temperature at which the kernel slows something down.
    """

    board: str
    system: str
    kernel: str
    architecture: str
    processor: str
    processors: int
    python: str
    edged: str
    memory: int
    available: int
    host: HostState
    trips: Mapping[str, float]
    governors: Mapping[str, str]
    disks: tuple[Disk, ...]


@dataclass(frozen=True)
class DeviceFile:
    """A device file. `driver`: of the kernel; `usable`: this user may read and write it."""

    path: str
    driver: str
    group: str
    mode: str
    usable: bool


@dataclass(frozen=True)
class Drivers:
    """What OpenCL needs. `vendors`: the .icd files and what each names; `variables`: settings of drivers."""

    nodes: tuple[DeviceFile, ...]
    modules: tuple[str, ...]
    vendors: Mapping[str, str]
    libmali: tuple[str, ...]
    variables: Mapping[str, str]


@dataclass(frozen=True)
class TriedStep:
    """A step of the self-test. `figures`: what it measured; `problem`: why it failed, empty if it did not."""

    step: str
    figures: Mapping[str, float] = field(default_factory=dict)
    problem: str = ""


@dataclass(frozen=True)
class ExaminedDevice:
    """An OpenCL device with the results of its self-test. `version`: of OpenCL."""

    platform: str
    name: str
    kind: str
    version: str
    driver: str
    fp16: bool
    compute_units: int
    memory_bytes: int
    tried: tuple[TriedStep, ...] = ()


@dataclass(frozen=True)
class ServiceUnit:
    """The systemd service: properties of `systemctl show`."""

    state: str
    enabled: str
    result: str
    restarts: str
    groups: tuple[str, ...]

    @property
    def is_active(self) -> bool:
        return self.state.startswith("active")


@dataclass(frozen=True)
class RunningWorker:
    """A worker of the running daemon, as its metrics show it."""

    name: str
    device: str
    ready: bool
    serving: bool


@dataclass(frozen=True)
class Facts:
    """Everything that was found. `config`: without secrets; `overrides`: what sets its keys besides the file."""

    system: System
    drivers: Drivers
    devices: tuple[ExaminedDevice, ...]
    devices_problem: str
    cameras: tuple[CameraFound, ...]
    rails: tuple[str, ...]
    unreadable_rails: tuple[Unreadable, ...]
    rails_note: str
    user: str
    unit: ServiceUnit | None
    config_file: str
    config_problem: str
    config: Mapping[str, Any]
    overrides: tuple[str, ...]
    checked: tuple[Finding, ...]
    workers: tuple[RunningWorker, ...]
