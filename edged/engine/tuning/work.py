"""List the distinct shapes of a network to tune, those that take most of a frame first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from edged.engine.device import Device
from edged.engine.selection import Choice, Chooser
from edged.engine.shape import shape_of
from edged.engine.variants.variant import Site
from edged.model.graph import Conv, Dense


@dataclass(frozen=True)
class TuningTask:
    """Equal sites of a network: one of them, and the untuned seconds of a frame that all take."""

    site: Site[Any]
    frame_s: float


@dataclass(frozen=True)
class Listener:
    """Chooses as `chooser` does, and records the sites."""

    chooser: Chooser
    sites: list[Site[Any]] = field(default_factory=list)

    def channel_block(self, device: Device) -> int:
        """Return the block size that `chooser` chooses."""
        return self.chooser.channel_block(device)

    def choose(self, site: Site[Any]) -> Choice:
        """Return the choice of `chooser`, and record the site."""
        self.sites.append(site)
        return self.chooser.choose(site)


def work_of(sites: Sequence[Site[Any]], seconds: Mapping[str, float]) -> tuple[TuningTask, ...]:
    """Return `sites` of a plan, with `seconds` of a frame by operator, as tasks: the longest first."""
    equal: dict[str, list[Site[Any]]] = {}
    for site in sites:
        equal.setdefault(shape_of(site).key, []).append(site)
    works = (
        TuningTask(same[0], sum(seconds.get(site.operator.name, 0) for site in same)) for same in equal.values()
    )
    return tuple(sorted(works, key=lambda work: -work.frame_s))


def touched_bytes(sites: Sequence[Site[Any]]) -> int:
    """Return the weights and tensors, in bytes, that one frame passes through the caches."""
    tensors = sum(tensor.nbytes for site in sites for tensor in (*site.inputs, site.output))
    weights = sum(_weight_bytes(site) for site in sites)
    return tensors + weights


def _weight_bytes(site: Site[Any]) -> int:
    if not isinstance(site.operator, Conv | Dense):
        return 0
    return site.operator.weight.nbytes // (2 if site.half_weights else 1)
