"""What `edged plan-split` has found, and as one JSON object."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from edged.cli.split_costs import Ability
from edged.cli.split_pump import Tried
from edged.cli.split_search import Cost
from edged.cli.split_ways import Way, Ways
from edged.messages import ModelInfo, WorkerHello


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one way."""

    frames_per_s: float
    latency_s: float


@dataclass(frozen=True)
class Report:
    """`frames`: of a job; `ways`: what was looked at; `tried`: what came out of those that were tried."""

    hellos: Mapping[str, WorkerHello]
    measured: Ways
    frames: int
    ways: Sequence[Way]
    tried: Mapping[Way, Tried]

    @property
    def model(self) -> ModelInfo:
        return next(iter(self.hellos.values())).model

    def abilities(self) -> Iterator[tuple[WorkerHello, Ability]]:
        """Each worker, with what was measured of it."""
        for unit in self.measured.units:
            yield from ((self.hellos[name], ability) for name, ability in unit.each())

    def figures(self, cost: Cost | Tried) -> Figures:
        """As a user sees them."""
        return Figures(self.frames / cost.period_s, cost.latency_s)

    def as_object(self) -> dict[str, Any]:
        """For programs, in seconds and bytes."""
        return {
            "model": self.model.name,
            "random_weights": self.model.random_weights,
            "frames": self.frames,
            "workers": {
                hello.worker: {
                    "device": hello.device,
                    "precision": hello.precision,
                    "link": asdict(ability.link),
                    **ability.measured.model_dump(exclude={"kind"}),
                }
                for hello, ability in self.abilities()
            },
            "ways": [self._way_as_object(way) for way in self.ways],
        }

    def _way_as_object(self, way: Way) -> dict[str, Any]:
        tried = self.tried.get(way)
        return {
            "title": way.title,
            "parts": [asdict(part) for part in way.parts],
            "predicted": asdict(self.figures(way.predicted)),
            "measured": asdict(self.figures(tried)) if tried else None,
        }
