"""Keeps the children running: one process a camera, and the first worker of the list that works."""

import signal
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from edged.clock import now_ns
from edged.config import Config
from edged.errors import OUT_OF_MEMORY, ConfigError, DeviceError, EdgedError, ModelError
from edged.hub.child import Child, describe_exit
from edged.hub.notice import Notice
from edged.hub.restarts import Budget

EDGED = (sys.executable, "-m", "edged")

BAD_INPUT = ConfigError.exit_code
NO_DEVICE = DeviceError.exit_code


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
        self._index = 0
        self._worker = self._new_worker()
        self._budget = self._new_budget()
        self._ready = False
        self._ever_ready = False
        self._cause = ""

    @property
    def worker(self) -> str:
        """The name of the worker that runs, or should."""
        return f"local-{self._index}"

    @property
    def warming_up_s(self) -> float | None:
        """For how long the worker has been starting; None once it is ready."""
        return None if self._ready or not self._worker.running else self._worker.age_s

    @property
    def children(self) -> list[Child]:
        """Every child that has a process."""
        return [child for child in (*self._cameras.values(), self._worker) if child.running]

    @property
    def cameras_started_ns(self) -> dict[str, int]:
        """When each camera process that is running was started, by the camera's name."""
        return {name: child.started_ns for name, child in self._cameras.items() if child.running}

    def camera_is_stopped(self, name: str) -> bool:
        """Whether a signal keeps its process from running."""
        return name in self._cameras and self._cameras[name].stopped

    def next_due_ns(self) -> int | None:
        """When a child must be started."""
        due = [child.due_ns for child in (*self._cameras.values(), self._worker)]
        return min((at for at in due if at is not None), default=None)

    def worker_is_ready(self) -> None:
        """The worker has said hello."""
        self._ready = self._ever_ready = True

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

    def kill_worker(self, cause: str = "") -> None:
        """It hangs. `cause`: `deadline`, `device_error`, `start`; else its own end says why. `step` will tell."""
        self._cause = self._cause or cause
        self._worker.signal(signal.SIGKILL)

    def kill_camera(self, name: str) -> None:
        """It hangs. `step` will tell of its end."""
        self._hung.add(name)
        self._cameras[name].signal(signal.SIGKILL)

    def step(self, now: int) -> list[Notice]:
        """Reap who has ended, start who is due. Raises EdgedError where starting again cannot help."""
        if (self.warming_up_s or 0.0) > self._config.recovery.start_s:
            self.kill_worker("start")
        notices = [*self._lost_cameras(), *self._lost_worker()]
        for child in (*self._cameras.values(), self._worker):
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
            message = f"camera process {name} {what}; it starts again {_when(wait_s)}"
            yield Notice("camera_lost", message, camera=name)

    def _lost_worker(self) -> Iterator[Notice]:
        code = self._worker.exit_code()
        if code is None:
            return
        was_ready, self._ready = self._ready, False
        cause, self._cause = self._cause or _own_cause(code), ""
        if code == BAD_INPUT and not self._ever_ready:
            raise ModelError(f"worker {self.worker} cannot use the model: its message is above")
        what = f"worker {self.worker} {_describe(code, cause)}"
        used_up = self._budget.lost(time.monotonic()) or (code == NO_DEVICE and not was_ready)
        if used_up and self._index + 1 < len(self._config.workers):
            yield self._fall_back(what, cause)
        elif used_up and not self._ever_ready:
            raise _no_worker(self._config, self.worker)
        else:
            wait_s = self._worker.start_again()
            yield Notice(
                "worker_lost", f"{what}; it starts again {_when(wait_s)}", worker=self.worker, reason=cause
            )

    def _fall_back(self, what: str, cause: str) -> Notice:
        lost, workers = self.worker, self._config.workers
        self._index += 1
        self._worker = self._new_worker()
        self._budget = self._new_budget()
        given_up = f"its device {workers[self._index - 1].device} is given up"
        next_one = f"{self.worker} (device {workers[self._index].device}) takes over"
        return Notice("fallback", f"{what}: {given_up}, {next_one}", worker=lost, reason=cause)

    def _new_budget(self) -> Budget:
        return Budget(self._config.recovery.losses, self._config.recovery.within_s)

    def _new_worker(self) -> Child:
        return self._child("worker", self.worker, str(self._index))

    def _child(self, verb: str, name: str, argument: str) -> Child:
        return Child(f"{verb}/{name}", (*self._program, verb, argument, *self._where))


def _when(wait_s: float) -> str:
    """`at once`, `in 0.5 s`."""
    return f"in {wait_s:g} s" if wait_s else "at once"


def _own_cause(code: int) -> str:
    if code == OUT_OF_MEMORY:
        return "out_of_memory"
    return "exit" if code >= 0 else "signal"


def _describe(code: int, cause: str) -> str:
    killed = {
        "deadline": "held a job past its deadline and was killed",
        "start": "was not ready in time and was killed",
        "device_error": "had a device that failed and was killed",
    }
    return killed.get(cause) or describe_exit(code)


def _no_worker(config: Config, last: str) -> EdgedError:
    devices = ", ".join(worker.device for worker in config.workers)
    return DeviceError(
        f"no worker can run ({last} was the last of workers: [{devices}]): their messages are above; "
        "`edged devices` lists what there is"
    )
