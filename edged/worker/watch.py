"""Record the jobs of a worker while a client requests it; do nothing at other times."""

import os
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

from edged.clock import NANOSECONDS, nanoseconds, now_ns
from edged.messages import (
    ClockAnswer,
    ClockRequest,
    DeviceTimes,
    JobTimes,
    KernelCost,
    Layers,
    LinkMessage,
    RecorderHello,
    RecordRequest,
    TraceBatch,
)
from edged.runtime.base import ModelRuntime, Result
from edged.transport.hub_clock import HubClock
from edged.worker.completion import Completed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from edged.engine.job import DeviceInterval
    from edged.engine.transfer import CommandInterval

TOGETHER = 16  # jobs in a message
SENT_NS = NANOSECONDS // 5  # longest time that jobs wait for a message
BLOCK = 8  # jobs with their layers timed, and as many without


@dataclass(frozen=True, slots=True)
class StartedJob:
    """A job that was submitted during a recording."""

    begun_ns: int
    submitted_ns: int


class JobTrace:
    """Records the times of jobs, and of the kernels of as many as the hub requests."""

    def __init__(self, runtime: ModelRuntime, *, same_host: bool) -> None:
        self._runtime = runtime
        self._clock = HubClock(same_host=same_host)
        self._recording: int | None = None
        self._until_ns = 0
        self._layers: Layers = "none"
        self._jobs = 0
        self._begun: dict[int, StartedJob] = {}
        self._times: list[JobTimes] = []

    def hub_joined(self) -> None:
        """Forget the hub's clock: it may be another hub."""
        self._clock.forget()

    def apply_request(self, news: RecordRequest | ClockAnswer) -> list[LinkMessage]:
        """Start, continue or stop recording, or add a clock answer; return the messages to send."""
        if isinstance(news, ClockAnswer):
            self._clock.add_answer(news.sent_ns, news.hub_ns, news.hub_at, now_ns())
            return []
        if not news.for_s:
            self._until_ns = 0
            return [self._pop_jobs(last=True)]
        self._until_ns, self._layers = now_ns() + nanoseconds(news.for_s), news.layers
        messages: list[LinkMessage] = [self._pop_jobs()] if self._times else []
        if news.recording != self._recording:
            self._recording, self._begun = news.recording, {}
            messages = [self._recorder_hello()]
        return messages if self._clock.same_host else [*messages, ClockRequest(sent_ns=now_ns())]

    @property
    def times_layers(self) -> bool:
        """Return whether kernels of jobs that are submitted now are to be timed."""
        return self._layers != "none" and now_ns() < self._until_ns

    def job_submitted(self, job: int, begun_ns: int) -> None:
        """Record a job that was received at `begun_ns`, and submitted just now."""
        if self._until_ns and (submitted_ns := now_ns()) < self._until_ns:
            self._begun[job] = StartedJob(begun_ns, submitted_ns)

    def job_answered(self, completed: Completed, taken_ns: int) -> list[LinkMessage]:
        """Record the answer to a job, whose result was read at `taken_ns`; return the messages to send."""
        begun = self._begun.pop(completed.job.job, None) if self._begun else None
        if begun is None or isinstance(completed.outcome, Exception):
            return []
        times = _times(begun, completed, completed.outcome, taken_ns, layers=self._wants_layers())
        self._times.append(times)
        waited_ns = times.answered_ns - self._times[0].answered_ns
        return [self._pop_jobs()] if len(self._times) >= TOGETHER or waited_ns >= SENT_NS else []

    def _pop_jobs(self, *, last: bool = False) -> TraceBatch:
        times, self._times = tuple(self._times), []
        offset_ns, error_ns = self._clock.offset_ns()
        return TraceBatch(jobs=times, offset_ns=offset_ns, error_ns=error_ns, last=last)

    def _wants_layers(self) -> bool:
        self._jobs += 1
        return self._layers == "all" or (self._layers == "half" and self._jobs // BLOCK % 2 == 0)

    def _recorder_hello(self) -> RecorderHello:
        return RecorderHello(
            pid=os.getpid(),
            host=socket.gethostname(),
            costs=tuple(
                KernelCost(
                    operator=cost.operator,
                    kernel=cost.kernel,
                    macs=cost.macs,
                    nbytes=cost.nbytes,
                    weight_bytes=cost.weight_bytes,
                )
                for cost in self._runtime.costs
            ),
            peaks=self._runtime.cached_peaks(),
        )


def _times(begun: StartedJob, completed: Completed, result: Result, taken_ns: int, *, layers: bool) -> JobTimes:
    answered_ns, ran = now_ns(), result.on_device
    kernels = result.read_clocks() if layers else ()
    read_ns = now_ns()
    return JobTimes(
        job=completed.job.job,
        frames=completed.job.frames,
        begun_ns=begun.begun_ns,
        submitted_ns=begun.submitted_ns,
        done_ns=completed.at_ns,
        taken_ns=taken_ns,
        answered_ns=answered_ns,
        upload_s=result.upload_s,
        forward_s=result.forward_s,
        download_s=result.download_s,
        device=_device_times(ran, kernels) if ran else None,
        reading_s=(read_ns - answered_ns) / NANOSECONDS if kernels else 0.0,
    )


def _device_times(ran: "DeviceInterval", kernels: "Sequence[CommandInterval]") -> DeviceTimes:
    return DeviceTimes(
        upload=_span(ran.upload),
        forward=_span(ran.forward),
        download=_span(ran.download),
        kernels=tuple(map(_span, kernels)),
    )


def _span(ran: "CommandInterval") -> tuple[int, int]:
    return ran.start_ns, ran.end_ns
