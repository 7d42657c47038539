"""Keeps the children running: one process a camera, and the worker that serves (see `choice`)."""

import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from edged.clock import now_ns
from edged.config import Config
from edged.errors import ConfigError
from edged.hub.child import Child, describe_exit
from edged.hub.choice import Choice, when
from edged.hub.notice import Notice
from edged.hub.seat import Seat

EDGED = (sys.executable, "-m", "edged")

BAD_INPUT = ConfigError.exit_code


class Supervisor:
    """Starts, reaps and starts again. `step` never blocks."""

    def __init__(self, config: Config, path: Path, address: str, program: Sequence[str] = EDGED) -> None:
        """`path`: the config file, for the children; `address`: where the hub's link is.

        `program`: what is started, with the verb `camera` or `worker`.
        """
        self._config = config
        self._program = tuple(program)
        self._where = ("--config", str(path), "--hub", address)
        self._cameras = {name: self._child("camera", name, name) for name in config.cameras}
        self._ended: set[str] = set()
        self._hung: set[str] = set()
        self._choice = Choice([self._seat(index) for index in range(len(config.workers))])

    @property
    def worker(self) -> str:
        """The name of the worker that serves, or should."""
        return self._choice.seat.name

    @property
    def warming_up_s(self) -> float | None:
        """For how long the worker has been starting; None once it is ready."""
        return self._choice.seat.warming_up_s

    @property
    def retiring(self) -> list[str]:
        """The workers that make way for another one: they are to be told to stop."""
        return [seat.name for seat in self._choice.all_seats if seat.retires]

    @property
    def children(self) -> list[Child]:
        """Every child that has a process."""
        workers = [child for seat in self._choice.all_seats for child in seat.children]
        return [*(child for child in self._cameras.values() if child.running), *workers]

    @property
    def cameras_started_ns(self) -> dict[str, int]:
        """When each camera process that is running was started, by the camera's name."""
        return {name: child.started_ns for name, child in self._cameras.items() if child.running}

    def camera_is_stopped(self, name: str) -> bool:
        """Whether a signal keeps its process from running."""
        return name in self._cameras and self._cameras[name].stopped

    def next_due_ns(self) -> int | None:
        """When a child must be started."""
        due = [self._choice.next_due_ns(), *(child.due_ns for child in self._cameras.values())]
        return min((at for at in due if at is not None), default=None)

    def worker_is_ready(self, name: str) -> list[Notice]:
        """The worker has said hello."""
        return self._choice.is_ready(name)

    def camera_has_ended(self, name: str) -> None:
        """The camera's source is at its end: the process exits, and stays so."""
        self._ended.add(name)
        self._cameras[name].due_ns = None  # its end may have been seen before its last words were read

    def add_camera(self, name: str) -> None:
        """Start a process for it, or another one after the one that is about to end."""
        self._ended.discard(name)
        if name not in self._cameras:
            self._cameras[name] = self._child("camera", name, name)
        elif not self._cameras[name].running:
            self._cameras[name].due_ns = now_ns()

    def set_config(self, config: Config) -> None:
        """Workers with other settings than before start again; cameras come and go one by one."""
        before, self._config = self._config, config
        for seat in self._choice.all_seats:
            seat.set_recovery(config.recovery)
        if (config.workers, config.energy) == (before.workers, before.energy):
            return
        same = config.energy == before.energy
        changed = {
            _name(index): worker.device
            for index, worker in enumerate(config.workers)
            if not (same and before.workers[index : index + 1] == (worker,))
        }
        seats = [self._choice.named(_name(index)) or self._seat(index) for index in range(len(config.workers))]
        self._choice.change(seats, changed)

    def kill_worker(self, name: str, cause: str = "") -> None:
        """It hangs. `cause`: `deadline` or `device_error`; else its own end says why. `step` will tell."""
        if seat := self._choice.named(name):
            seat.kill(cause)

    def kill_camera(self, name: str) -> None:
        """It hangs. `step` will tell of its end."""
        self._hung.add(name)
        self._cameras[name].signal(signal.SIGKILL)

    def step(self, now: int) -> list[Notice]:
        """Reap who has ended, start who is due. Raises EdgedError where starting again cannot help."""
        notices = [*self._lost_cameras(), *self._choice.step(now)]
        for child in self._cameras.values():
            child.start_if_due(now)
        return notices

    def _lost_cameras(self) -> Iterator[Notice]:
        for name, child in self._cameras.items():
            code = child.exit_code()
            if code is None or name in self._ended:
                continue
            if code == BAD_INPUT:
                raise ConfigError(f"camera {name} cannot run: its message is above")
            wait_s = child.start_again()
            if code == 0:  # it has come to its end and says so, most likely
                continue
            what = "hung and was killed" if name in self._hung else describe_exit(code)
            self._hung.discard(name)
            message = f"camera process {name} {what}; it starts again {when(wait_s)}"
            yield Notice("camera_lost", message, camera=name)

    def _seat(self, index: int) -> Seat:
        worker, name = self._config.workers[index], _name(index)
        return Seat(name, worker.device, self._config.recovery, lambda: self._child("worker", name, str(index)))

    def _child(self, verb: str, name: str, argument: str) -> Child:
        return Child(f"{verb}/{name}", (*self._program, verb, argument, *self._where))


def _name(index: int) -> str:
    """Of a worker, by its place in the list."""
    return f"local-{index}"
