"""Count joules by host and rail, once for all workers of a host; show idle watts, temperatures and frequencies."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from edged.clock import nanoseconds
from edged.messages import EnergyMethod, EnergySoFar, Features, HostState, Scores, WorkerHello
from edged.metrics import Metrics
from edged.metrics.catalog import EnergyMetrics
from edged.metrics.fast import Family, ScalarSeries
from edged.system.host_watch import READ_S, HostWatch

Rails = Mapping[str, float]
Answer = Scores | Features


@dataclass(slots=True)
class EnergySource:
    """The energy reports of one worker, compared with the sums of its host.

    `reached`: the level of its sums on its host's scale. `reports_before`: reports of its host before it joined.
    `attributed`: rails whose joules are attributed to its jobs; empty: all.
    """

    host: str
    reports_before: int
    attributed: frozenset[str]
    reached: dict[str, float] = field(default_factory=dict)


class HostEnergy:
    """Follows the sums of each worker: only what exceeds the highest one of its host is new."""

    def __init__(self, metrics: EnergyMetrics, node: str) -> None:
        """`node`: name of the hub's own host."""
        self._metrics = metrics
        self._node = node
        self._sources: dict[str, EnergySource] = {}
        self._reports: Counter[str] = Counter()  # by host
        self._total: dict[tuple[str, str], float] = {}  # by host and rail
        self._methods: set[EnergyMethod] = set()

    @property
    def so_far(self) -> EnergySoFar:
        """Return the sums; one estimate makes all of them estimated."""
        rails = {f"{host}/{rail}" if host else rail: joules for (host, rail), joules in self._total.items()}
        return EnergySoFar(rails=rails, method=min(self._methods, default="none"))  # estimated < measured

    def worker_joined(self, hello: WorkerHello) -> None:
        """Record that a worker has joined, or joined again; show the idle watts of its host."""
        host, attributed = hello.host, frozenset(hello.attributed_rails)
        self._sources[hello.worker] = EnergySource(host, self._reports[host], attributed)
        for rail, watts in hello.idle_watts.items():
            self._metrics.idle_watts.labels(host or self._node, rail).set(watts)

    def answered(self, hello: WorkerHello, answer: Answer) -> Answer:
        """Return the joules of a job, minus those that other workers of its host have already reported."""
        added = self.add_report(hello.worker, answer.rails, hello.energy)
        if answer.joules and (share := added / (answer.joules + answer.idle)) < 1:
            return msgspec.structs.replace(answer, joules=share * answer.joules, idle=share * answer.idle)
        return answer

    def add_report(self, worker: str, rails: Rails, method: EnergyMethod) -> float:
        """Add a worker's report, and return the new joules of the rails that are attributed to its jobs.

        All new joules are counted; `rails`: joules since its last report.
        """
        source = self._sources[worker]
        new = {rail: self._new(source, rail, joules, method) for rail, joules in rails.items()}
        self._reports[source.host] += 1
        self._methods |= {method} if rails else set()
        return sum(new[rail] for rail in new.keys() & (source.attributed or new.keys()))

    def _new(self, source: EnergySource, rail: str, joules: float, method: str) -> float:
        key = (source.host, rail)
        before = self._total.get(key, 0.0)
        if method == "estimated":  # of its own process: no other worker reports these joules
            self._count(key, joules, method)
            return joules
        # other workers of its host may have reported the time of its first report
        first = before if self._reports[source.host] == source.reports_before else before - joules
        reached = source.reached.get(rail, first) + joules
        new = max(0.0, reached - before)
        source.reached[rail] = reached
        self._count(key, new, method)
        return new

    def _count(self, key: tuple[str, str], joules: float, method: str) -> None:
        host, rail = key
        self._total[key] = self._total.get(key, 0.0) + joules
        self._metrics.energy.labels(host or self._node, rail, method).inc(joules)


SILENT_NS = nanoseconds(4 * READ_S)  # then the state of the host is unknown

Shown = dict[tuple[str, str], float]  # by name of the metric and sensor, or domain


@dataclass(slots=True)
class StateSource:
    """The worker that reports the state of a host: the first one of it."""

    worker: str
    reported_ns: int
    shown: Shown


class HostStates:
    """Shows the last report of each host, until it is out of date."""

    def __init__(self, metrics: Metrics, node: str, own: HostWatch) -> None:
        """`node`: name of the hub's own host."""
        self._gauges: dict[str, Family[ScalarSeries]] = {
            "celsius": metrics.temperature,
            "now": metrics.frequency,
            "limit": metrics.frequency_limit,
            "maximum": metrics.frequency_max,
        }
        self._node = node
        self._own = own
        self._sources: dict[str, StateSource] = {}

    def add_report(self, worker: str, host: str, state: HostState, now_ns: int) -> None:
        """Show the report of a worker, unless the hub's own host or another worker reports the same."""
        if host and host != self._node:
            self._show(worker, host, state, now_ns)

    def tick(self, now_ns: int) -> None:
        """Update the hub's own host and remove old reports, once a second."""
        if state := self._own.pop_state():
            self._show("", self._node, state, now_ns)
        for host, source in list(self._sources.items()):
            if now_ns - source.reported_ns > SILENT_NS:
                self._replace(host, source.shown, {})
                del self._sources[host]

    def _show(self, worker: str, host: str, state: HostState, now_ns: int) -> None:
        source = self._sources.setdefault(host, StateSource(worker, now_ns, {}))
        if source.worker != worker:
            return
        shown = _shown(state)
        self._replace(host, source.shown, shown)
        source.shown, source.reported_ns = shown, now_ns

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
