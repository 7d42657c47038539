"""How hot and how fast the machines of a pipeline are: the hub's own, and those of workers elsewhere."""

from dataclasses import dataclass

from edged.clock import nanoseconds
from edged.host.watch import READ_S, HostWatch
from edged.messages import HostState
from edged.metrics import Metrics
from edged.metrics.quick import Family, Value

SILENT_NS = nanoseconds(4 * READ_S)  # then nobody knows how hot it is now

Shown = dict[tuple[str, str], float]  # by name of the metric and sensor, or domain


@dataclass(slots=True)
class Teller:
    """Who tells of a host: of several workers there, the one that was first."""

    worker: str
    told_ns: int
    shown: Shown


class HostStates:
    """Shows what was told last, as long as somebody tells."""

    def __init__(self, metrics: Metrics, node: str, own: HostWatch) -> None:
        """`node`: what the hub's own host is called."""
        self._gauges: dict[str, Family[Value]] = {
            "celsius": metrics.temperature,
            "now": metrics.frequency,
            "limit": metrics.frequency_limit,
            "maximum": metrics.frequency_max,
        }
        self._node = node
        self._own = own
        self._tellers: dict[str, Teller] = {}

    def told(self, worker: str, host: str, state: HostState, now_ns: int) -> None:
        """By a worker; nothing new where it is on the hub's own host, or not the one that tells of this host."""
        if host and host != self._node:
            self._show(worker, host, state, now_ns)

    def tick(self, now_ns: int) -> None:
        """Once a second."""
        if state := self._own.news():
            self._show("", self._node, state, now_ns)
        for host, teller in list(self._tellers.items()):
            if now_ns - teller.told_ns > SILENT_NS:
                self._replace(host, teller.shown, {})
                del self._tellers[host]

    def _show(self, worker: str, host: str, state: HostState, now_ns: int) -> None:
        teller = self._tellers.setdefault(host, Teller(worker, now_ns, {}))
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
