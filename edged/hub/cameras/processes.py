"""One process for each camera that the hub reads itself."""

import signal
from collections.abc import Callable, Iterable, Iterator

from edged.clock import now_ns
from edged.hub.children.child import Child, describe_exit, when
from edged.hub.events import HubEvent


class CameraProcesses:
    """Starts, reaps and restarts camera processes.

    A camera of another host has none here: requests for it do nothing.
    """

    def __init__(self, names: Iterable[str], new_child: Callable[[str], Child]) -> None:
        """`new_child`: creates the process of a camera, due but not yet started."""
        self._new_child = new_child
        self._children = {name: new_child(name) for name in names}
        self._ended: set[str] = set()
        self._killed: dict[str, str] = {}  # why the hub has killed it

    @property
    def running(self) -> dict[str, Child]:
        """Return the running processes by camera."""
        return {name: child for name, child in self._children.items() if child.running}

    def next_due_ns(self) -> int | None:
        """Return when `step` must be called."""
        steps = (child.next_step_ns for child in self._children.values())
        return min((at for at in steps if at is not None), default=None)

    def has_ended(self, name: str) -> None:
        """Record that the camera's source has ended: the process exits, and is not restarted."""
        self._ended.add(name)
        if child := self._children.get(name):
            child.due_ns = None  # its exit may be seen before its last report is read

    def add(self, name: str) -> None:
        """Add a camera's process, or a new one after the one that is about to end."""
        self._ended.discard(name)
        if name not in self._children:
            self._children[name] = self._new_child(name)
        elif not self._children[name].running:
            self._children[name].due_ns = now_ns()

    def kill(self, name: str, what: str = "hung") -> None:
        """Kill a process; `step` reports its end, with the reason `what`."""
        if child := self._children.get(name):
            self._killed[name] = what
            child.signal(signal.SIGKILL)

    def step(self, now: int) -> list[HubEvent]:
        """Reap ended processes, kill stopped ones, start those that are due."""
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
            if code == 0:  # its source has probably ended, and its last report is still to be read
                continue
            killed = self._killed.pop(name, "")
            what = f"{killed} and was killed" if killed else describe_exit(code)
            message = f"camera process {name} {what}; it starts again {when(wait_s)}"
            yield HubEvent("camera_lost", message, camera=name)
