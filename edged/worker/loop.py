"""The worker's loop: receive jobs, send scores, until the hub stops it."""

import logging
import math
from collections.abc import Iterable, Sequence

from edged.clock import nanoseconds, now_ns
from edged.energy.meter import Meter
from edged.errors import DeviceError, DeviceMemoryError, MessageError
from edged.messages import (
    AssignPart,
    ClockAnswer,
    Echo,
    Features,
    HelloRequest,
    IdleEnergy,
    Job,
    JobFailed,
    LinkMessage,
    LoadHead,
    MeasureRequest,
    OneLaunches,
    RecordRequest,
    Scores,
    Stop,
    WorkerHello,
    decode,
)
from edged.runtime.base import ModelRuntime
from edged.runtime.jobs import not_finite
from edged.system.host_watch import READ_S, HostWatch
from edged.system.process_end import killed_after
from edged.transport.hub_link import HubLink
from edged.worker.completion import Completed, Completions, Outcome
from edged.worker.job_io import LoadedHeads, Served, answer_to, frames_of
from edged.worker.warm_up import SelfCheck
from edged.worker.watch import JobTrace

HANGS = 2  # factor on the time of a job
ANSWERS = 64  # messages that may wait to be sent: more than ever occur, as each would be a lost frame
CHECK_S = 60.0  # seconds until the device is checked again by a known answer
CHECK_AFTER_NAN_S = (
    1.0  # the same if an answer has NaN: for a network that always gives NaN, one more job per second
)
ENERGY_REPORT_S = 5.0  # interval of energy reports without jobs: no counter wrap is missed
IDLE_S = 60.0  # without rails nothing is reported
LAUNCHES_S = 5.0  # interval of reports of jobs in one launch

PlanSplitRequest = MeasureRequest | AssignPart  # of `edged plan-split`: the device is needed for something else

log = logging.getLogger("edged.worker")


class Loop:
    """One thread receives jobs, submits them and answers; a second one waits for the device.

    So the upload of a job overlaps the forward pass before it. On a CPU the first thread waits, too, for jobs that
    are quicker than the other one wakes. Every job is answered, even late: the hub decides whether an answer is
    too old.
    """

    def __init__(
        self, runtime: ModelRuntime, served: Served, known: SelfCheck, meter: Meter, host: HostWatch | None = None
    ) -> None:
        """`host`: watch of this host if the hub is on another one, which cannot see its state."""
        self._runtime = runtime
        self._known = known
        self._served = served
        self._meter = meter
        self._host = host
        self._completions = Completions(waits_for_quick_jobs=runtime.has_cpu_threads)
        self._heads = LoadedHeads("", 0)
        self._hangs_s = math.inf
        self._one_launches = OneLaunches(jobs=0, waits_given_up=0)  # reported so far
        self._report_ns = 0

    def run(self, hub: HubLink, hello: WorkerHello) -> PlanSplitRequest | None:
        """Serve until `Stop` or a request of `edged plan-split`.

        Raises MessageError if the hub refuses this worker.

        Raises DeviceMemoryError or MemoryError if memory is exhausted: the end of the process releases it.
        """
        hub.watch(self._completions.fileno())
        self._watch = JobTrace(self._runtime, same_host=hub.same_host)
        self._heads = LoadedHeads(hello.model.sha256, self._served.taught)
        try:
            while (end := self._turn(hub, hello, hub.wait(self._patience_s()))) is None:
                self._end_if_the_device_hangs()
        finally:
            hub.unwatch(self._completions.fileno())
            self._completions.close()
        return None if isinstance(end, Stop) else end

    def _turn(self, hub: HubLink, hello: WorkerHello, has_news: bool) -> Stop | PlanSplitRequest | None:
        """Handle what is ready; return the message that ends the loop."""
        if hub.has_joined():
            self._watch.hub_joined()
            hub.send(hello)
        if completed := self._completions.pop():
            self._answer(hub, completed)
        if self._host and (state := self._host.pop_state()):
            hub.send(state)
        end = self._dispatch(hub, hello, parts) if (parts := hub.receive()) else None
        if not has_news and not self._completions.in_flight:
            self._meter.start_job()
            if rail_joules := self._meter.pop_rail_joules():
                hub.send(IdleEnergy(rails=rail_joules))
        return end

    def _dispatch(
        self, hub: HubLink, hello: WorkerHello, parts: Sequence[bytes | memoryview]
    ) -> Stop | PlanSplitRequest | None:
        """Handle a message of the hub; return the one that ends the loop."""
        match _decoded(parts[0]):
            case Stop() as stop:
                _stop(stop)
                return stop
            case MeasureRequest() | AssignPart() as request:
                return request
            case HelloRequest():
                hub.send(hello)
            case Echo(reply_bytes=wanted):
                hub.send(Echo(reply_bytes=0), [bytes(wanted)])
            case (RecordRequest() | ClockAnswer()) as news:
                self._send(hub, self._watch.apply_request(news))
            case LoadHead() as head:
                hub.send(self._heads.load(head, parts[1:]))
            case Job() as job:
                self._send(hub, self._submit(job, parts[1:]))
        return None

    def _send(self, hub: HubLink, messages: Iterable[LinkMessage]) -> None:
        for message in messages:
            hub.send(message)

    def _patience_s(self) -> float:
        idle_s = READ_S if self._host else ENERGY_REPORT_S if self._meter.rails else IDLE_S
        return min(self._hangs_s, idle_s) if self._completions.in_flight else idle_s

    def _end_if_the_device_hangs(self) -> None:
        """End this process if its device hangs: the hub kills only workers of its own host."""
        if self._completions.waiting_s >= self._hangs_s:
            raise DeviceError(f"the device has not answered within {self._hangs_s:g} s: it hangs")

    def _submit(self, job: Job, payloads: Sequence[bytes | memoryview]) -> list[LinkMessage]:
        begun_ns = now_ns()
        try:
            frames = frames_of(job, payloads, self._served)
            if not self._completions.in_flight:
                self._meter.start_job()
            self._hangs_s = HANGS * job.timeout_s
            features = self._heads.wants_features(job)
            by_layer = self._watch.times_layers
            with killed_after(self._hangs_s):  # PoCL computes here with one thread, and quick jobs are waited for
                pending = self._runtime.submit(frames, features=features, by_layer=by_layer)
                self._watch.job_submitted(job.job, begun_ns)
                self._completions.add(job, pending)
        except DeviceMemoryError:
            raise
        except (ValueError, DeviceError) as error:
            return [_failed(job, str(error))]
        return []

    def _answer(self, hub: HubLink, completed: Completed) -> None:
        taken_ns = now_ns()
        hub.send(*self._completed(completed.job, completed.outcome))  # a hub that has gone has given the job up
        self._send(hub, self._watch.job_answered(completed, taken_ns))
        if taken_ns >= self._report_ns:
            self._report_ns = taken_ns + nanoseconds(LAUNCHES_S)
            self._send(hub, self._new_one_launches())

    def _new_one_launches(self) -> list[OneLaunches]:
        """Return the jobs in one launch since the last report; empty without any, or if the device fails."""
        try:
            jobs, given_up = self._runtime.one_launches()
        except DeviceError as error:
            log.warning("%s", error)  # the next job will fail, too
            return []
        before, self._one_launches = self._one_launches, OneLaunches(jobs=jobs, waits_given_up=given_up)
        news = OneLaunches(jobs=jobs - before.jobs, waits_given_up=given_up - before.waits_given_up)
        return [news] if news.jobs or news.waits_given_up else []

    def _completed(self, job: Job, outcome: Outcome) -> tuple[Scores | Features | JobFailed, Sequence[memoryview]]:
        """Return the answer, with its payloads."""
        try:
            if isinstance(outcome, Exception):
                raise outcome
            features = outcome.features if job.head else None
            problem = not_finite(outcome.outputs if features is None else features)
            self._known.check(self._runtime, CHECK_AFTER_NAN_S if problem else CHECK_S)
        except DeviceMemoryError:
            raise
        except DeviceError as error:
            return _failed(job, str(error)), ()
        if problem:
            return JobFailed(job=job.job, reason="not_finite", error=problem), ()
        answered = self._heads.answer(job, outcome)
        return answer_to(job, outcome, self._meter.finish_job(), self._served, answered)


def _failed(job: Job, error: str) -> JobFailed:
    log.warning("job %d failed: %s", job.job, error)
    return JobFailed(job=job.job, reason="device_error", error=error)


def _decoded(header: bytes | memoryview) -> LinkMessage | None:
    try:
        return decode(header)
    except MessageError as error:
        log.warning("a message from the hub is ignored: %s", error)
        return None


def _stop(stop: Stop) -> None:
    if stop.refused:
        raise MessageError(f"the hub refused this worker: {stop.refused}")
