"""Workers that read the same counters: each joule counts once, and none is invented."""

from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from edged.hub.stats.hosts import HostEnergy
from edged.messages import Scores
from edged.metrics.catalog import EnergyMetrics
from edged.metrics.declare import Declare
from tests.hub.frames import HELLO

Told = list[tuple[str, int]]  # worker, and the joules that its host has spent since anybody told


class Host:
    """A rail, and workers that tell what it has counted since each told last."""

    def __init__(self) -> None:
        declare = Declare()
        self.registry = declare.registry
        self.energy = HostEnergy(EnergyMetrics(declare), "hub")
        self.spent = 0.0
        self._at: dict[str, float] = {}

    def begin(self, *workers: str) -> None:
        for worker in workers:
            self.energy.worker_joined(replace(HELLO, worker=worker, host="big"))
            self._at[worker] = self.spent

    def tell(self, worker: str) -> float:
        since, self._at[worker] = self.spent - self._at[worker], self.spent
        return self.energy.add_report(worker, {"GPU": since}, "measured")

    @property
    def counted(self) -> float:
        labels = {"node": "big", "rail": "GPU", "method": "measured"}
        return self.registry.get_sample_value("edged_energy_joules_total", labels) or 0.0


def test_one_worker_alone_tells_everything_idle_time_too() -> None:
    host = Host()
    host.begin("big-0")
    host.spent = 5
    assert host.tell("big-0") == 5
    host.begin("big-0")  # back after its link was away
    host.spent = 7
    assert (host.tell("big-0"), host.counted) == (2, 7)


def test_of_two_workers_each_reports_what_the_other_has_not_reported() -> None:
    host = Host()
    host.begin("big-0", "big-1")
    host.tell("big-0")
    host.tell("big-1")
    host.spent = 3
    assert (host.tell("big-0"), host.tell("big-1")) == (3, 0)
    host.spent = 4
    assert (host.tell("big-1"), host.tell("big-0"), host.counted) == (1, 0, 4)


def test_one_that_stood_by_and_takes_over_tells_on_from_there() -> None:
    host = Host()
    host.begin("big-0", "big-1")
    for host.spent in (1, 2, 3):
        host.tell("big-0")
    host.spent = 4
    assert (host.tell("big-1"), host.counted) == (0, 3)  # of a time of which big-0 has told most
    host.spent = 9
    assert (host.tell("big-1"), host.counted) == (5, 8)


@given(st.lists(st.tuples(st.sampled_from(["big-0", "big-1", "big-2"]), st.integers(0, 9)), max_size=40))
def test_no_joule_counts_twice_whichever_worker_reports_it_and_when(told: Told) -> None:
    host = Host()
    host.begin("big-0", "big-1", "big-2")
    for worker, joules in told:
        host.spent += joules
        host.tell(worker)
        assert host.counted <= host.spent + 1e-6


@given(st.lists(st.tuples(st.sampled_from(["big-0", "big-1"]), st.integers(0, 9)), max_size=40))
def test_once_all_have_spoken_none_is_missed(told: Told) -> None:
    host = Host()
    host.begin("big-0", "big-1")
    host.tell("big-0")
    host.tell("big-1")
    for worker, joules in told:
        host.spent += joules
        host.tell(worker)
    assert host.counted == pytest.approx(host.spent)


@given(st.lists(st.tuples(st.sampled_from(["big-0", "big-1"]), st.integers(0, 9)), max_size=40))
def test_the_joules_of_all_jobs_of_workers_that_are_always_busy_are_the_hosts(jobs: Told) -> None:
    host = Host()
    host.begin("big-0", "big-1")
    host.tell("big-0")
    host.tell("big-1")
    begun_at = dict.fromkeys(["big-0", "big-1"], 0.0)
    borne = 0.0
    for worker, joules in [*jobs, ("big-0", 0), ("big-1", 0)]:
        host.spent += joules
        since, begun_at[worker] = host.spent - begun_at[worker], host.spent
        own = host.energy.answered(
            replace(HELLO, worker=worker),
            replace(SCORES, joules=since, rails={"GPU": since}),
        )
        borne += own.joules or 0
    assert borne == pytest.approx(host.spent)


SCORES = Scores(job=1, frames=(), upload_s=0, forward_s=0, download_s=0)
SPENT = MappingProxyType({"GPU": 4.0, "BIG": 9.0})


def test_a_job_bears_the_rails_of_its_device_and_all_are_counted() -> None:
    host = Host()
    host.energy.worker_joined(replace(HELLO, worker="big-0", host="big", attributed_rails=("GPU",)))

    assert host.energy.add_report("big-0", SPENT, "measured") == 4.0
    assert host.energy.so_far.rails == {"big/GPU": 4.0, "big/BIG": 9.0}


def test_estimates_of_two_workers_are_of_two_processes_and_add_up() -> None:
    host = Host()
    host.begin("big-0", "big-1")

    told = [host.energy.add_report(worker, {"GPU": 2.0}, "estimated") for worker in ("big-0", "big-1", "big-0")]

    assert told == [2.0, 2.0, 2.0]
    assert host.energy.so_far.rails == {"big/GPU": 6.0}


def test_joules_that_another_worker_has_reported_are_taken_off_a_job_with_their_idle_share() -> None:
    host = Host()
    host.begin("big-0", "big-1")
    host.energy.add_report("big-0", {"GPU": 0.0}, "measured")
    host.energy.add_report("big-1", {"GPU": 0.0}, "measured")
    host.energy.add_report("big-1", {"GPU": 3.0}, "measured")
    scores = replace(SCORES, joules=3, idle=1, rails={"GPU": 4.0})

    own = host.energy.answered(replace(HELLO, worker="big-0"), scores)

    assert (own.joules, own.idle) == (0.75, 0.25)


@pytest.mark.parametrize(("host_of_worker", "shown_as"), [("big", "big"), ("", "hub")])
def test_idle_watts_are_shown_by_the_host_of_the_worker(host_of_worker: str, shown_as: str) -> None:
    host = Host()

    host.energy.worker_joined(replace(HELLO, host=host_of_worker, idle_watts={"GPU": 1.5}))

    assert host.registry.get_sample_value("edged_idle_watts", {"node": shown_as, "rail": "GPU"}) == 1.5
