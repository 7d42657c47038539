"""One process for each camera that the hub reads itself."""

import signal
from collections.abc import Callable, Iterable, Iterator

from edged.clock import now_ns
from edged.hub.children.child import Child, describe_exit, when
from edged.hub.events import HubEvent


class CameraProcesses:
    """Started, reaped and started again. A camera of another host has none here: requests for it do nothing."""

    def __init__(self, names: Iterable[str], new_child: Callable[[str], Child]) -> None:
        """`new_child`: a process of this camera that is not yet started, and due."""
        self._new_child = new_child
        self._children = {name: new_child(name) for name in names}
        self._ended: set[str] = set()
        self._killed: dict[str, str] = {}  # what it did to be killed

    @property
    def running(self) -> dict[str, Child]:
        """Those that have a process, by the camera's name."""
        return {name: child for name, child in self._children.items() if child.running}

    def next_due_ns(self) -> int | None:
        """When `step` must be called."""
        steps = (child.next_step_ns for child in self._children.values())
        return min((at for at in steps if at is not None), default=None)

    def has_ended(self, name: str) -> None:
        """The camera's source is at its end: the process exits, and stays so."""
        self._ended.add(name)
        if child := self._children.get(name):
            child.due_ns = None  # its end may have been seen before its last words were read

    def add(self, name: str) -> None:
        """Start a process for it, or another one after the one that is about to end."""
        self._ended.discard(name)
        if name not in self._children:
            self._children[name] = self._new_child(name)
        elif not self._children[name].running:
            self._children[name].due_ns = now_ns()

    def kill(self, name: str, what: str = "hung") -> None:
        """`step` will tell of its end, and `what` it did before."""
        if child := self._children.get(name):
            self._killed[name] = what
            child.signal(signal.SIGKILL)

    def step(self, now: int) -> list[HubEvent]:
        """Reap who has ended, kill who is stopped, start who is due."""
        notices = list(self._lost())
        for name, child in self._children.items():
            if child.has_stood_still(now):
                self.kill(name, "was stopped by a signal")
        for child in self._children.values():
            child.start_if_due(now)
        return notices

    def _lost(self) -> Iterator[HubEvent]:
        for name, child in self._children.items():
            code = child.exit_code()
            if code is None or name in self._ended:
                continue
            wait_s = child.start_again()
            if code == 0:  # it has come to its end and says so, most likely
                continue
            killed = self._killed.pop(name, "")
            what = f"{killed} and was killed" if killed else describe_exit(code)
            message = f"camera process {name} {what}; it starts again {when(wait_s)}"
            yield HubEvent("camera_lost", message, camera=name)
