"""The choice for a device that somebody has tuned for: measured where there is a record, rules elsewhere."""

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from edged.engine.candidates import candidates, find_candidate, source_digest
from edged.engine.choice import Choice, Chooser
from edged.engine.device import Device
from edged.engine.record import Record, Tuned, read_record
from edged.engine.record_places import record_places
from edged.engine.rules import Rules
from edged.engine.shape import shape_of
from edged.engine.variants.variant import Site
from edged.errors import ConfigError, DeviceError

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Records:
    """`tuned` by the key of the shape, in order of preference; `rules` decide where there is none."""

    tuned: Mapping[str, tuple[Tuned, ...]]
    rules: Chooser = field(default_factory=Rules)

    def channel_block(self, device: Device) -> int:
        """As the rules have it: records hold for the layout that they were measured in."""
        return self.rules.channel_block(device)

    def choose(self, site: Site[Any]) -> Choice:
        """The first that is known and not refused. Raises DeviceError if all are refused."""
        tuned = self.tuned.get(shape_of(site).key, ())
        for choice in self._in_order(site, tuned):
            if not any(is_refused(site, choice, each) for each in tuned):
                return choice
        raise DeviceError(
            f"{site.device.name} computes {site.operator.name} wrongly by every variant; see `edged devices` "
            "for others, or tune again after an update of its driver"
        )

    def _in_order(self, site: Site[Any], tuned: tuple[Tuned, ...]) -> Iterator[Choice]:
        for each in tuned:
            if each.best and (known := find_candidate(site, each.best.variant, each.best.parameters)):
                yield known
            elif each.best:
                _warn(f"tuning record for {each.shape}: there is no {each.best} any more; run `edged tune` again")
        yield self.rules.choose(site)
        yield from candidates(site)


def chooser_for(device: Device, state: Path | None = None) -> Records:
    """What to build plans for `device` with. `state`: as for `user_record`.

    A record that cannot be used is told of in a warning, and the next one decides.
    """
    by_key: dict[str, tuple[Tuned, ...]] = {}
    for path in record_places(device, state):
        for tuned in record.tuned if (record := _usable(path)) else ():
            by_key[tuned.shape.key] = (*by_key.get(tuned.shape.key, ()), tuned)
    return Records(by_key)


def chooser_named(conv: str, device: Device) -> Chooser:
    """What records and rules say for auto; rules alone for a variant by name. Raises ConfigError, as `Rules`."""
    return chooser_for(device) if conv == "auto" else Rules(conv)


def is_refused(site: Site[Any], choice: Choice, tuned: Tuned) -> bool:
    """Whether `choice`, with its kernels as they are now, must not be used."""
    return any(
        refusal.variant == choice.variant.name
        and refusal.parameters == choice.parameters
        and refusal.source == source_digest(site, choice)
        for refusal in tuned.refused
    )


def _usable(path: Path) -> Record | None:
    try:
        return read_record(path)
    except ConfigError as error:
        _warn(f"{error}. Until then the untuned choice is used")
        return None


@cache
def _warn(message: str) -> None:
    """Once: a plan asks for many sites, and a process makes several plans."""
    log.warning("%s", message)
