"""Keeps the processes of this host running, and knows which workers serve (see `failover`)."""

import subprocess
from collections import Counter
from itertools import groupby
from typing import Any

from edged.config import Config
from edged.hub.cameras.cameras import CameraProcesses
from edged.hub.children.child import Child
from edged.hub.children.command import ChildCommands, ChildEnvironment
from edged.hub.children.spare import Spare
from edged.hub.events import HubEvent
from edged.hub.workers.failover import GroupChoice
from edged.hub.workers.group import AnyWorkerSlot, Group
from edged.hub.workers.remote_slot import RemoteWorkerSlot
from edged.hub.workers.slot import STARTS_IN_S, WorkerSlot
from edged.system.paths import program_cache

LOSSES = {"worker_lost", "fallback"}


class Supervisor:
    """Starts, reaps and restarts cameras and workers. `step` never blocks."""

    def __init__(self, config: Config, commands: ChildCommands) -> None:
        self._config = config
        self._environment = ChildEnvironment(config)
        self._commands = commands
        self._spare = Spare(commands.spare(), self._environment.of_worker)
        here = [name for name, camera in config.cameras.items() if camera.host is None]
        self.cameras = CameraProcesses(here, self._camera)
        self._choice = GroupChoice(self._groups({}))
        self.losses: Counter[str] = Counter()  # by worker

    @property
    def worker(self) -> str:
        """Return the name of the worker that serves, or should; the first of its group."""
        return self._choice.serving.slots[0].name

    @property
    def slots(self) -> list[AnyWorkerSlot]:
        """Return the slots of all workers of the config, in its order."""
        return [slot for group in self._choice.groups for slot in group.slots]

    @property
    def works(self) -> bool:
        """Return whether each part of the network has a worker that is ready."""
        return self._choice.serving.works

    @property
    def is_fallback(self) -> bool:
        """Return whether another group than the first one serves, or should, since that one is lost."""
        return self._choice.is_fallback

    @property
    def waits_for_others(self) -> bool:
        """Return whether no worker serves, only because workers on other hosts are absent."""
        return not self.works and all(
            slot.ready or isinstance(slot, RemoteWorkerSlot) for slot in self._choice.serving.slots
        )

    @property
    def warming_up_s(self) -> float | None:
        """Return for how long the worker has been starting; None once it is ready."""
        return next((slot.warming_up_s for slot in self._choice.serving.slots if not slot.ready), None)

    @property
    def serving(self) -> frozenset[str]:
        """Return the workers that may get jobs."""
        return self._choice.ready

    @property
    def retiring(self) -> list[str]:
        """Return the workers that yield a device to another one: they must be stopped."""
        return [slot.name for slot in self._choice.all_slots if slot.retires]

    @property
    def children(self) -> list[Child]:
        """Return every child that has a process."""
        workers = [child for slot in self._choice.all_slots for child in slot.children]
        return [*self.cameras.running.values(), *workers]

    @property
    def cameras_started_ns(self) -> dict[str, int]:
        """Return when each running camera process was started, by camera."""
        return {name: child.started_ns for name, child in self.cameras.running.items()}

    def next_due_ns(self) -> int | None:
        """Return when `step` must be called at the latest."""
        due = (self._choice.next_due_ns(), self.cameras.next_due_ns(), self._spare.next_ns)
        return min((at for at in due if at is not None), default=None)

    def worker_is_ready(self, name: str) -> list[HubEvent]:
        """Record a worker's hello."""
        return self._choice.is_ready(name)

    def set_config(self, config: Config) -> None:
        """Restart workers with other settings; add and remove cameras one by one."""
        before, self._config = self._config, config
        self._environment.set_config(config)
        self._spare.dismiss()  # it has read the previous config
        for slot in self._choice.all_slots:
            slot.set_recovery(config.recovery)
        if _settings(config) == _settings(before):
            return
        was = dict(enumerate(_settings(before)))
        changed = {
            config.worker_name(index): config.workers[index].device
            for index, settings in enumerate(_settings(config))
            if was.get(index) != settings
        }
        self._choice.change(self._groups({slot.name: slot for slot in self._choice.all_slots}), changed)

    def kill_worker(self, name: str, cause: str = "") -> None:
        """Kill a worker that hangs; `step` reports it.

        `cause`: `deadline` or `device_error`; else its exit code is the reason.
        """
        if slot := self._choice.named(name):
            slot.kill(cause)

    def suspect_worker(self, now: int) -> None:
        """Prepare a spare process: a worker may hang. One with `threads` must know them before it loads."""
        if all(worker.threads is None for worker in self._config.workers):
            self._spare.prepare(now)

    def close(self) -> None:
        """Stop the spare, with the hub."""
        self._spare.close()

    def refuse_worker(self, name: str) -> None:
        """Record that a worker was refused: its end, which follows, is not its device's fault."""
        if slot := self._choice.named(name):
            slot.refuse()

    def step(self, now: int) -> list[HubEvent]:
        """Reap ended processes, start those that are due. Raises EdgedError if a restart cannot help."""
        of_workers = [*self._choice.step(now)]
        self._spare.step(now)
        self.losses.update(each.worker for each in of_workers if each.worker and each.event in LOSSES)
        return [*self.cameras.step(now), *of_workers]

    def _groups(self, known: dict[str, AnyWorkerSlot]) -> list[Group]:
        """Group the slots: neighbours of the same group serve together, and so do the groups of all segments."""
        workers, names = self._config.workers, [segment.workers for segment in self._config.segments]
        slots = [known.get(self._config.worker_name(index)) or self._slot(index) for index in range(len(workers))]
        runs = groupby(range(len(workers)), lambda index: workers[index].group or index)
        parts = [(key, [slots[index] for index in run]) for key, run in runs]
        units = groupby(parts, lambda part: "segments" if part[0] in names else id(part))
        return [Group([part for _, part in unit]) for _, unit in units]

    def _slot(self, index: int) -> AnyWorkerSlot:
        worker, name, recovery = (
            self._config.workers[index],
            self._config.worker_name(index),
            self._config.recovery,
        )
        if worker.host:
            return RemoteWorkerSlot(name, worker.device, recovery)
        compiles = worker.device.lower() != "numpy"
        return WorkerSlot(
            *(name, worker.device, recovery, lambda: self._worker(name, index)),
            alone=worker.threads is None and compiles,
            compiles=compiles,
            starts_in_s=STARTS_IN_S if _has_programs() else 0.0,
        )

    def _camera(self, name: str) -> Child:
        return Child(f"camera/{name}", self._commands.camera(name), lambda: self._environment.of_camera(name))

    def _worker(self, name: str, index: int) -> Child:
        def take_spare() -> subprocess.Popen[bytes] | None:
            return self._spare.take(str(index))

        return Child(f"worker/{name}", self._commands.worker(index), self._environment.of_worker, take_spare)


def _has_programs() -> bool:
    """Return whether this host has compiled kernels of any network."""
    return any(program_cache().glob("*"))


def _settings(config: Config) -> list[tuple[Any, ...]]:
    """Return, for each worker, all settings whose change requires a restart."""
    return [
        (worker, config.ends_of(index), config.energy, config.model) for index, worker in enumerate(config.workers)
    ]
