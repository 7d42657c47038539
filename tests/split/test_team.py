"""Who is there for `edged plan-split`, and what is said of those that are not, or do not fit."""

import re
import signal

import msgspec
import pytest

from edged.clock import nanoseconds, now_ns
from edged.errors import DeviceError, ModelError
from edged.hub.children.child import Child
from edged.messages import AssignPart, Job, JobFailed, MeasureAnswer, MeasureRequest
from edged.split.workers import Team
from tests.cli.scripted import MODEL, ScriptedLinks, hello_of
from tests.eventually import eventually


def test_what_a_worker_answers_comes_before_it_is_ready_again() -> None:
    measured = MeasureAnswer(cut_points=(), overlaps=False)
    links = ScriptedLinks({"a": lambda message, payloads: [(measured, ()), (hello_of("a"), ())]})
    team = Team(links, {}, print)
    team.hellos["a"] = hello_of("a")

    assert team.request({"a": MeasureRequest(frames=1, for_s=0)}) == {"a": measured}
    assert team.hellos.keys() == {"a"}


def test_missing_workers_are_reported_once() -> None:
    links, told = ScriptedLinks({}), list[str]()
    links.says.extend((name, hello_of(name), ()) for name in "ab")

    with pytest.raises(DeviceError, match=r"c: not connected within 0.01 s"):
        Team(links, {}, told.append).gather(["a", "b", "c"], 0.01)

    assert told == ["waiting for a, b, c", "waiting for b, c", "waiting for c"]


def test_workers_of_this_host_may_compile_for_longer() -> None:
    child = Child("worker/a", ("sleep", "60"))
    try:
        Team(LateLinks(0.2), {"a": child}, print).gather(["a"], 0.01)
    finally:
        child.signal(signal.SIGKILL)
        eventually(lambda: child.exit_code() is not None)


class LateLinks(ScriptedLinks):
    """The worker a says hello after `seconds`."""

    def __init__(self, seconds: float) -> None:
        super().__init__({})
        self._until_ns = now_ns() + nanoseconds(seconds)

    def wait(self, within_ms: int) -> bool:
        if now_ns() >= self._until_ns:
            self.says.append(("a", hello_of("a"), ()))
        return super().wait(within_ms)


def test_two_models_are_no_team() -> None:
    links = ScriptedLinks({})
    other = msgspec.structs.replace(MODEL, sha256="f" * 64)
    links.says.extend([("a", hello_of("a"), ()), ("b", hello_of("b", model=other), ())])

    with pytest.raises(ModelError, match=re.escape("worker b runs m (ffffffffffff), a runs m (000000000000)")):
        Team(links, {}, print).gather(["a", "b"], 1.0)


def test_another_version_of_edged_is_refused_with_what_to_do() -> None:
    links = ScriptedLinks({})
    links.says.append(("a", hello_of("a", protocol=7), ()))

    with pytest.raises(
        DeviceError, match=r"worker a: it is edged .* \(protocol 7\), this is edged .*: install the same edged"
    ):
        Team(links, {}, print).gather(["a"], 1.0)


def test_a_job_that_fails_ends_it_with_the_reason() -> None:
    failed = JobFailed(job=1, reason="device_error", error="the queue is gone")
    links = ScriptedLinks({"a": lambda message, payloads: [(failed, ())]})
    team = Team(links, {}, print)
    team.send("a", Job(job=1, frames=1, top=1, timeout_s=1))

    with pytest.raises(DeviceError, match="worker a failed a job: the queue is gone"):
        team.receive(0)


def test_a_worker_that_has_gone_is_named() -> None:
    with pytest.raises(DeviceError, match="worker a is disconnected"):
        Team(ScriptedLinks({}), {}, print).send("a", AssignPart())
