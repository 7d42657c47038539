"""The status line of each camera."""

import textwrap
from collections.abc import Callable

from edged.clock import NANOSECONDS, now_ns
from edged.hub.cameras import Cameras
from edged.hub.report import camera_line
from edged.hub.router import Router
from edged.hub.supervisor import Supervisor
from edged.hub.tally import Tally
from edged.hub.workers import Workers

WHY_COLUMNS = 30  # the log and the summary have all of it


class Display:
    """Lines for people."""

    def __init__(
        self,
        *,
        show: Callable[[str], None],
        tally: Tally,
        router: Router,
        cameras: Cameras,
        workers: Workers,
        supervisor: Supervisor,
        every_s: float,
    ) -> None:
        self._show = show
        self._tally = tally
        self._router = router
        self._cameras = cameras
        self._workers = workers
        self._supervisor = supervisor
        self._shown_ns = now_ns()
        self._every_ns = round(every_s * NANOSECONDS)

    def lines(self, now: int) -> None:
        """Show a line for each camera, where it is time: the hub asks once a second."""
        if now - self._shown_ns < self._every_ns:
            return
        seconds = (now - self._shown_ns) / NANOSECONDS
        width = max(len(name) for name in self._router.cameras)
        for name, camera in self._router.cameras.items():
            tally = self._tally.cameras[name]
            state = self._energy() if tally.since_line else self._why_nothing(name)
            self._show(camera_line(name, width, seconds, tally=tally, ledger=camera.ledger, state=state))
            tally.since_line = 0
        self._shown_ns = now

    def _energy(self) -> str:
        if not self._tally.with_joules:
            why = textwrap.shorten(self._workers.energy_note or "not measured", WHY_COLUMNS, placeholder="…")
            return f"no joules: {why}"
        joules = self._tally.joules / self._tally.with_joules
        return f"{joules:.3g} J a frame" + (" (estimated)" if self._tally.method == "estimated" else "")

    def _why_nothing(self, name: str) -> str:
        warming_up_s = self._supervisor.warming_up_s
        if warming_up_s is not None:
            return f"worker {self._supervisor.worker} is warming up ({warming_up_s:.0f} s)"
        if not self._workers.hellos:
            return f"worker {self._supervisor.worker} is being started again"
        return self._cameras.state(name)
