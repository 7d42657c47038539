"""From what was measured to what a stage costs: the worker's time, and that of the link to it."""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean

from edged.cli.split_search import Cost
from edged.messages import Measured


@dataclass(frozen=True, slots=True)
class LinkSpeed:
    """Of the link between hub and worker: seconds of a round trip that carries nothing, and for each byte more.

    `message_s`: from one empty answer to the next, where many are on their way: what both ends do for each.
    """

    round_trip_s: float
    out_s_per_byte: float
    back_s_per_byte: float
    message_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Ability:
    """What was measured of one worker."""

    measured: Measured
    link: LinkSpeed

    def cost(self, begin: int, end: int) -> Cost:
        """Of a job that comes as the tensor of place `begin` and leaves as that of `end`.

        With a job in hand beside the one that runs, the link carries while the device computes.
        """
        first, last = self.measured.places[begin], self.measured.places[end]
        compute_s, ends_s = max(0.0, last.reached_s - first.reached_s), first.take_s + last.give_s
        out_s = first.nbytes * self.link.out_s_per_byte
        back_s = last.nbytes * self.link.back_s_per_byte
        host_s = ends_s + self.link.message_s
        busy_s = max(compute_s, host_s) if self.measured.overlaps else compute_s + host_s
        return Cost(
            period_s=max(busy_s, out_s, back_s),
            latency_s=self.link.round_trip_s + out_s + compute_s + ends_s + back_s,
        )


@dataclass(frozen=True, slots=True)
class Unit:
    """A worker, or those of one group, which share the jobs. `name`: the group's, or its only worker's."""

    name: str
    workers: tuple[str, ...]
    abilities: tuple[Ability, ...]

    def each(self) -> Iterator[tuple[str, Ability]]:
        """The workers' names, and what was measured of them."""
        return zip(self.workers, self.abilities, strict=True)

    def cost(self, begin: int, end: int) -> Cost:
        """Together they do as many jobs a second as each for itself; a job on its own may come to any of them."""
        each = [ability.cost(begin, end) for ability in self.abilities]
        return Cost(1 / sum(1 / cost.period_s for cost in each), fmean(cost.latency_s for cost in each))
