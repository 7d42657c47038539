"""Children that say nothing any more: their processes are killed, and the supervisor starts others."""

from edged.clock import NANOSECONDS
from edged.hub.figures.service import Service
from edged.hub.parts import Parts
from edged.hub.stream.notice import Notice

AT_LEAST_EVERY_NS = NANOSECONDS


class Hanging:
    """Looks for them, once all that they have said was read: else an answer may lie in the queue behind it."""

    def __init__(self, parts: Parts, service: Service, now: int) -> None:
        self._parts = parts
        self._service = service
        self.next_ns = now  # when a camera may have fallen silent

    def kill(self, now: int) -> list[Notice]:
        """A worker with a job beyond its deadline, and cameras that stand still."""
        if self._parts.router.has_suspect(now):
            self._parts.supervisor.suspect_worker(now)
        self._kill_worker(now)
        return self._kill_cameras(now) if now >= self.next_ns else []

    def _kill_worker(self, now: int) -> None:
        for assigned in self._parts.router.overdue(now):
            self._parts.router.give_up(assigned.job, "deadline", now)
            self._parts.workers.left(assigned.worker, "worker_lost")
            self._parts.supervisor.kill_worker(assigned.worker, "deadline")
            break  # its other jobs are lost with it

    def _kill_cameras(self, now: int) -> list[Notice]:
        states, supervised = self._parts.cameras.states, self._parts.supervisor.cameras
        silent = states.fallen_silent(now)
        notices = states.silenced(silent)
        for name in states.hung(now, self._parts.supervisor.cameras_started_ns):
            self._service.camera_hangs(name)
            supervised.kill(name)
        silence_ns, latest_ns = states.next_silence_ns(), now + AT_LEAST_EVERY_NS
        self.next_ns = latest_ns if silence_ns is None else min(latest_ns, silence_ns)
        return notices
