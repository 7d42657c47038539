"""Joules by host and rail, counted once for all workers of a host; temperatures and frequencies."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import prometheus_client

from edged.clock import nanoseconds
from edged.messages import EnergyMethod, EnergySoFar, Features, HostState, Scores, WorkerHello
from edged.metrics import Metrics
from edged.metrics.fast import Family, ScalarSeries
from edged.system.host_watch import READ_S, HostWatch

Rails = Mapping[str, float]
Answer = Scores | Features


@dataclass(slots=True)
class EnergySource:
    """A worker: what its sums have reached, as its host's, and the sums of its host before it began.

    `bears`: rails whose joules are attributed to its jobs; empty: all.
    """

    host: str
    words_before: int
    bears: frozenset[str]
    reached: dict[str, float] = field(default_factory=dict)


class HostEnergy:
    """Follows each worker's own sums: what goes beyond the highest one of its host is new."""

    def __init__(self, counter: prometheus_client.Counter, node: str) -> None:
        """`node`: what the hub's own host is called."""
        self._counter = counter
        self._node = node
        self._tellers: dict[str, EnergySource] = {}
        self._words: Counter[str] = Counter()  # by host
        self._total: dict[tuple[str, str], float] = {}  # by host and rail
        self._methods: set[EnergyMethod] = set()

    @property
    def so_far(self) -> EnergySoFar:
        """The sums; one estimate makes all of them estimated."""
        rails = {f"{host}/{rail}" if host else rail: joules for (host, rail), joules in self._total.items()}
        return EnergySoFar(rails=rails, method=min(self._methods, default="none"))  # estimated < measured

    def begins(self, worker: str, host: str, bears: Iterable[str] = ()) -> None:
        """A worker is there, or there again."""
        self._tellers[worker] = EnergySource(host, self._words[host], frozenset(bears))

    def answered(self, hello: WorkerHello, answer: Answer) -> Answer:
        """Return the joules of a job, less those that other workers of its host have reported already."""
        added = self.told(hello.worker, answer.rails, hello.energy)
        if answer.joules and (share := added / (answer.joules + answer.idle)) < 1:
            return answer.model_copy(update={"joules": share * answer.joules, "idle": share * answer.idle})
        return answer

    def told(self, worker: str, rails: Rails, method: EnergyMethod) -> float:
        """The joules that are new, of those that a worker has counted since it was last heard.

        All are counted; what is returned are those of the rails whose joules its jobs bear.
        """
        teller = self._tellers[worker]
        new = {rail: self._new(teller, rail, joules, method) for rail, joules in rails.items()}
        self._words[teller.host] += 1
        self._methods |= {method} if rails else set()
        return sum(new[rail] for rail in new.keys() & (teller.bears or new.keys()))

    def _new(self, teller: EnergySource, rail: str, joules: float, method: str) -> float:
        place = (teller.host, rail)
        before = self._total.get(place, 0.0)
        if method == "estimated":  # of its own process: nobody else tells of the same joules
            self._count(place, joules, method)
            return joules
        # its first word is of a time of which others of its host may have told
        first = before if self._words[teller.host] == teller.words_before else before - joules
        reached = teller.reached.get(rail, first) + joules
        new = max(0.0, reached - before)
        teller.reached[rail] = reached
        self._count(place, new, method)
        return new

    def _count(self, place: tuple[str, str], joules: float, method: str) -> None:
        host, rail = place
        self._total[place] = self._total.get(place, 0.0) + joules
        self._counter.labels(host or self._node, rail, method).inc(joules)


SILENT_NS = nanoseconds(4 * READ_S)  # then nobody knows how hot it is now

Shown = dict[tuple[str, str], float]  # by name of the metric and sensor, or domain


@dataclass(slots=True)
class StateSource:
    """Who tells of a host: of several workers there, the one that was first."""

    worker: str
    told_ns: int
    shown: Shown


class HostStates:
    """Shows the last reports, until they are out of date."""

    def __init__(self, metrics: Metrics, node: str, own: HostWatch) -> None:
        """`node`: what the hub's own host is called."""
        self._gauges: dict[str, Family[ScalarSeries]] = {
            "celsius": metrics.temperature,
            "now": metrics.frequency,
            "limit": metrics.frequency_limit,
            "maximum": metrics.frequency_max,
        }
        self._node = node
        self._own = own
        self._tellers: dict[str, StateSource] = {}

    def told(self, worker: str, host: str, state: HostState, now_ns: int) -> None:
        """By a worker; nothing new where it is on the hub's own host, or not the one that tells of this host."""
        if host and host != self._node:
            self._show(worker, host, state, now_ns)

    def tick(self, now_ns: int) -> None:
        """Once a second."""
        if state := self._own.pop_state():
            self._show("", self._node, state, now_ns)
        for host, teller in list(self._tellers.items()):
            if now_ns - teller.told_ns > SILENT_NS:
                self._replace(host, teller.shown, {})
                del self._tellers[host]

    def _show(self, worker: str, host: str, state: HostState, now_ns: int) -> None:
        teller = self._tellers.setdefault(host, StateSource(worker, now_ns, {}))
        if teller.worker != worker:
            return
        shown = _shown(state)
        self._replace(host, teller.shown, shown)
        teller.shown, teller.told_ns = shown, now_ns

    def _replace(self, host: str, before: Shown, after: Shown) -> None:
        for what, where in before.keys() - after.keys():
            self._gauges[what].remove(host, where)
        for (what, where), value in after.items():
            self._gauges[what].labels(host, where).set(value)


def _shown(state: HostState) -> Shown:
    shown = {("celsius", sensor): value for sensor, value in state.celsius.items()}
    for domain, frequency in state.frequencies.items():
        for what in ("now", "limit", "maximum"):
            shown[what, domain] = getattr(frequency, what)
    return shown
