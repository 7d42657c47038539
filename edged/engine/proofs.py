"""Proofs that a device computes a network correctly, and the variants that it computes wrongly, kept in the cache.

A proof holds for one plan: the network, the device with its driver, the variants with their parameters, and the
source of their kernels. If one of them changes, the network is compared with the reference again (`proving`).
"""

import json
import logging
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from edged.engine.device import Device
from edged.engine.launch import kernels_of
from edged.engine.layout import Element
from edged.engine.packed import plan_key
from edged.engine.planner import Plan
from edged.engine.programs import source_of
from edged.engine.selection import Choice, Chooser, candidates
from edged.engine.shape import RecordSection, shape_of
from edged.engine.tuning_records import MeasuredOn, measured_on
from edged.engine.variants.variant import Site
from edged.errors import DeviceError
from edged.model.model_part import ModelPart
from edged.system.disk_cache import CacheEntries, code_sha256

log = logging.getLogger("edged.worker")

Content = TypeVar("Content", bound=RecordSection)


class WrongVariant(RecordSection):
    """A variant that disagrees with the reference for one shape, and is not used there.

    `shape`: see `Shape.key`; `described`: the same for people; `source`: digest of its kernels' source.
    """

    variant: str
    shape: str
    described: str
    source: str
    detail: str

    def __str__(self) -> str:
        return f"{self.variant} for {self.described} ({self.detail})"


class Proof(RecordSection):
    """A comparison of a network with the reference on a device.

    `error`: of its scores, as a share of their range. `part`: the part of the network, if it is not the whole.
    `proven_at`: ISO 8601, UTC.
    """

    device: MeasuredOn
    model: str
    sha256: str
    part: str = ""
    precision: str
    variants: tuple[str, ...]
    error: float
    seconds: float
    proven_at: str

    def __str__(self) -> str:
        return (
            f"{', '.join(self.variants)}; scores within {self.error:.0e} of their range ({self.precision}), "
            f"in {self.seconds:.1f} s"
        )


class WrongVariants(RecordSection):
    """The variants that disagree with the reference on one device."""

    device: MeasuredOn
    found: tuple[WrongVariant, ...] = ()


class Proofs:
    """The proofs and exclusions of `device` in a cache folder."""

    def __init__(self, folder: Path, device: Device) -> None:
        self._folder = folder
        self._device = device
        self._proofs, self._wrong = CacheEntries(folder, "proof"), CacheEntries(folder, "wrong")
        known = _read(self._wrong, _device_key(device), WrongVariants)
        self.wrong: tuple[WrongVariant, ...] = known.found if known else ()

    def has_proof(self, key: str) -> bool:
        """Return whether there is a proof for the plan with this key."""
        return self._proofs.load(key) is not None

    def save_proof(self, key: str, proof: Proof) -> None:
        """Save a proof for the next start; a cache that cannot be written is logged."""
        _save(self._proofs, key, proof)

    def exclude(self, wrong: tuple[WrongVariant, ...]) -> None:
        """Exclude these variants on this device, until its driver or the source of their kernels changes."""
        self.wrong = (*self.wrong, *wrong)
        known = WrongVariants(device=measured_on(self._device), found=self.wrong)
        _save(self._wrong, _device_key(self._device), known)

    def all_proofs(self) -> Iterator[Proof]:
        """Yield every proof of this device, the oldest first."""
        found = (_read(self._proofs, key, Proof) for key in self._proofs.list_keys())
        ours = [proof for proof in found if proof and proof.device == measured_on(self._device)]
        yield from sorted(ours, key=lambda proof: proof.proven_at)


class ProvenChooser:
    """Chooses as `chooser` does, but not the excluded variants."""

    def __init__(self, chooser: Chooser, wrong: tuple[WrongVariant, ...]) -> None:
        self._chooser = chooser
        self._wrong = {(each.variant, each.shape, each.source): each for each in wrong}
        self._left_out: dict[WrongVariant, None] = {}

    @property
    def excluded_variants(self) -> tuple[str, ...]:
        """Return the variants that would have been chosen but are excluded, for people."""
        return tuple(map(str, self._left_out))

    def channel_block(self, device: Device, element: Element = Element.FLOAT32) -> int:
        """Return the block size that `chooser` chooses."""
        return self._chooser.channel_block(device, element)

    def choose(self, site: Site[Any]) -> Choice:
        """Choose a variant that is not excluded. Raises DeviceError if none is left."""
        choice = self._chooser.choose(site)
        wrong = self._is_excluded(site, choice)
        if wrong is None:
            return choice
        self._left_out[wrong] = None
        for other in candidates(site):
            if self._is_excluded(site, other) is None:
                return other
        raise DeviceError(
            f"{site.device.name} computes {site.operator.name} ({shape_of(site)}) wrongly by every variant: "
            "name another device in `workers:` (`edged devices` lists them), or update its driver"
        )

    def _is_excluded(self, site: Site[Any], choice: Choice) -> WrongVariant | None:
        if not self._wrong:
            return None
        return self._wrong.get((choice.variant.name, shape_of(site).key, kernels_digest(site, choice)))


def kernels_digest(site: Site[Any], choice: Choice) -> str:
    """Return 12 hexadecimal digits that change with the kernels' source of `choice`, not with its parameters."""
    names = {launch.kernel for launch in choice.variant.launches(site, choice.parameters)}
    return sha256("".join(source_of(name) for name in sorted(names)).encode()).hexdigest()[:12]


def proof_key(plan: Plan, part: ModelPart, device: Device) -> str:
    """Return a key of everything that the answers of a plan depend on."""
    sources = sorted({source_of(launch.kernel) for launch in kernels_of(plan.launches)})
    plans = [plan_key(plan, part.sha256 or "", part.input), str(plan.images), sources]
    return sha256(json.dumps([*plans, _device_key(device), code_sha256("edged.engine")]).encode()).hexdigest()


def _device_key(device: Device) -> str:
    return sha256("\0".join((device.platform, device.name, device.version, device.driver)).encode()).hexdigest()


def _save(entries: CacheEntries, key: str, content: RecordSection) -> None:
    try:
        entries.save(key, [content.model_dump_json().encode()])
    except OSError as error:
        log.warning("the proof of a device cannot be kept, so the next start will prove it again: %s", error)


def _read(entries: CacheEntries, key: str, kind: type[Content]) -> Content | None:
    content = entries.load(key)
    try:
        return kind.model_validate_json(bytes(content)) if content else None
    except ValidationError:  # of another version
        return None
