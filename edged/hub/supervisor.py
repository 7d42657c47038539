"""Keeps the processes of this host running, and knows which workers serve (see `choice`)."""

import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from edged.config import Config
from edged.hub.camera_processes import CameraProcesses
from edged.hub.child import Child
from edged.hub.choice import AnySeat, Choice
from edged.hub.notice import Notice
from edged.hub.remote_seat import RemoteSeat
from edged.hub.seat import Seat

EDGED = (sys.executable, "-m", "edged")


class Supervisor:
    """Starts, reaps and starts again. `step` never blocks."""

    def __init__(self, config: Config, path: Path, address: str, program: Sequence[str] = EDGED) -> None:
        """`path`: the config file, for the children; `address`: where the hub's link is.

        `program`: what is started, with the verb `camera` or `worker`.
        """
        self._config = config
        self._program = tuple(program)
        self._where = ("--config", str(path), "--hub", address)
        here = [name for name, camera in config.cameras.items() if camera.host is None]
        self.cameras = CameraProcesses(here, lambda name: self._child("camera", name, name))
        self._choice = Choice(self._groups({}))

    @property
    def worker(self) -> str:
        """The name of the worker that serves, or should; the first of its group."""
        return self._choice.serving[0].name

    @property
    def warming_up_s(self) -> float | None:
        """For how long the worker has been starting; None once it is ready."""
        return self._choice.serving[0].warming_up_s

    @property
    def serving(self) -> frozenset[str]:
        """The workers that are to get jobs."""
        return self._choice.ready

    @property
    def retiring(self) -> list[str]:
        """The workers that make way for another one: they are to be told to stop."""
        return [seat.name for seat in self._choice.all_seats if seat.retires]

    @property
    def children(self) -> list[Child]:
        """Every child that has a process."""
        workers = [child for seat in self._choice.all_seats for child in seat.children]
        return [*self.cameras.running.values(), *workers]

    @property
    def cameras_started_ns(self) -> dict[str, int]:
        """When each camera process that is running was started, by the camera's name."""
        return {name: child.started_ns for name, child in self.cameras.running.items()}

    def next_due_ns(self) -> int | None:
        """When `step` is to be called at the latest."""
        due = (self._choice.next_due_ns(), self.cameras.next_due_ns())
        return min((at for at in due if at is not None), default=None)

    def worker_is_ready(self, name: str) -> list[Notice]:
        """The worker has said hello."""
        return self._choice.is_ready(name)

    def set_config(self, config: Config) -> None:
        """Workers with other settings than before start again; cameras come and go one by one."""
        before, self._config = self._config, config
        for seat in self._choice.all_seats:
            seat.set_recovery(config.recovery)
        if (config.workers, config.energy) == (before.workers, before.energy):
            return
        same = config.energy == before.energy
        changed = {
            config.worker_name(index): worker.device
            for index, worker in enumerate(config.workers)
            if not (same and before.workers[index : index + 1] == (worker,))
        }
        self._choice.change(self._groups({seat.name: seat for seat in self._choice.all_seats}), changed)

    def kill_worker(self, name: str, cause: str = "") -> None:
        """It hangs. `cause`: `deadline` or `device_error`; else its own end says why. `step` will tell."""
        if seat := self._choice.named(name):
            seat.kill(cause)

    def step(self, now: int) -> list[Notice]:
        """Reap who has ended, start who is due. Raises EdgedError where starting again cannot help."""
        return [*self.cameras.step(now), *self._choice.step(now)]

    def _groups(self, known: dict[str, AnySeat]) -> list[list[AnySeat]]:
        """Neighbours of the same group serve together."""
        places = range(len(self._config.workers))
        runs = groupby(places, lambda index: self._config.workers[index].group or index)
        return [
            [known.get(self._config.worker_name(index)) or self._seat(index) for index in run] for _, run in runs
        ]

    def _seat(self, index: int) -> AnySeat:
        worker, name, recovery = (
            self._config.workers[index],
            self._config.worker_name(index),
            self._config.recovery,
        )
        if worker.host:
            return RemoteSeat(name, worker.device, recovery)
        return Seat(name, worker.device, recovery, lambda: self._child("worker", name, str(index)))

    def _child(self, verb: str, name: str, argument: str) -> Child:
        return Child(f"{verb}/{name}", (*self._program, verb, argument, *self._where))
