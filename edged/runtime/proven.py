"""Open a device only after comparing it with the reference: for this network, driver and source of kernels."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from edged.config import WorkerConfig
from edged.errors import DeviceError, EdgedError
from edged.model.model_part import ModelPart
from edged.runtime.base import ModelRuntime
from edged.runtime.select import device_for, is_numpy, open_on_device, open_runtime
from edged.system.paths import cache_directory

if TYPE_CHECKING:
    from edged.engine.device import Device
    from edged.engine.proofs import Proof, ProvenChooser
    from edged.engine.proving import Examined
    from edged.engine.runtime import Runtime

log = logging.getLogger("edged.worker")


@dataclass(frozen=True, eq=False)
class Proven:
    """A runtime whose answers agree with the reference.

    `excluded_variants`: descriptions of the variants that do not agree, and are not used. `is_compared`: False
    where there was too little memory to compare all of it.
    """

    runtime: ModelRuntime
    excluded_variants: tuple[str, ...] = ()
    is_compared: bool = True


def open_proven(part: ModelPart, worker: WorkerConfig, *, cache: Path | None = None, conv: str = "auto") -> Proven:
    """Open a runtime as `open_runtime` does, without variants that disagree with the reference.

    Proofs are kept beside `cache`, the folder of programs. `conv`: see `chooser_named`. Raises what `open_runtime`
    and `chooser_named` do, and DeviceError if the device computes something wrongly by every variant. If there is
    too little memory for the comparison, a warning says what was not compared.
    """
    with faults_named(part, worker):
        if is_numpy(worker):
            return Proven(open_runtime(part, worker, cache=cache))
        return _proven(part, worker, cache, conv)


@contextmanager
def faults_named(part: ModelPart, worker: WorkerConfig) -> Iterator[None]:
    """Raise a DeviceError for an error that edged did not foresee: another device may not have it."""
    try:
        yield
    except (EdgedError, MemoryError):
        raise
    except Exception as fault:
        log.debug("%s on %s", part.name, worker.device, exc_info=True)
        text = " ".join(f"{type(fault).__name__}: {fault}".split())
        raise DeviceError(
            f"device {worker.device}: {part.name} cannot be opened and compared with the reference ({text}): "
            "a fault of edged, please report it with this model, and name another device in `workers:`"
        ) from fault


def _proven(part: ModelPart, worker: WorkerConfig, cache: Path | None, conv: str) -> Proven:
    device = device_for(part.graph, worker.device, worker.precision)
    from edged.engine.proofs import Proofs, ProvenChooser
    from edged.engine.tuning_records import chooser_named

    proofs = Proofs(proofs_folder(cache), device)
    while True:
        chooser = ProvenChooser(chooser_named(conv, device), proofs.wrong)
        runtime = open_on_device(part, worker, device, chooser=chooser, cache=cache)
        if proofs.has_proof(runtime.proof_key):
            return Proven(runtime, chooser.excluded_variants)
        start = time.perf_counter()
        examined = _examine(part, worker, device, runtime, chooser)
        if not examined.is_complete:
            # without a proof: the next start compares again
            return Proven(runtime, chooser.excluded_variants, is_compared=False)
        if not examined.wrong:
            proof = _proof(part, worker, device, examined, time.perf_counter() - start)
            proofs.save_proof(runtime.proof_key, proof)
            log.info("%s agrees with the reference on %s: %s", device.name, part.name, proof)
            return Proven(runtime, chooser.excluded_variants)
        runtime.close()
        proofs.exclude(examined.wrong)
        for wrong in examined.wrong:
            log.warning("%s: %s; it is left out until the driver or its kernel changes", device.name, wrong)


def open_variation(part: ModelPart, worker: WorkerConfig) -> ModelRuntime:
    """Open a network that differs in its weights alone from one that `open_proven` has opened there.

    It uses the variants of that one, and is not compared again. Raises what `open_runtime` does.
    """
    if is_numpy(worker):
        return open_runtime(part, worker)
    device = device_for(part.graph, worker.device, worker.precision)
    chooser = proven_chooser(device)
    return open_on_device(replace(part, keeps_weights=False), worker, device, chooser=chooser)


def proven_chooser(device: "Device", conv: str = "auto") -> "ProvenChooser":
    """Return a chooser without the variants that `open_proven` found wrong. Raises what `chooser_named` does."""
    from edged.engine.proofs import Proofs, ProvenChooser
    from edged.engine.tuning_records import chooser_named

    return ProvenChooser(chooser_named(conv, device), Proofs(proofs_folder(), device).wrong)


def _examine(
    part: ModelPart, worker: WorkerConfig, device: "Device", runtime: "Runtime", chooser: "ProvenChooser"
) -> "Examined":
    from edged.engine.proving import examine

    return examine(
        runtime,
        part.checked(),
        device,
        part.noise(worker.batch),
        precision=worker.precision,
        chooser=chooser,
    )


def _proof(
    part: ModelPart, worker: WorkerConfig, device: "Device", examined: "Examined", seconds: float
) -> "Proof":
    from edged.engine.proofs import Proof
    from edged.engine.tuning_records import measured_on

    return Proof(
        device=measured_on(device),
        model=part.name,
        sha256=part.sha256 or "",
        part=str(part.described or ""),
        precision=worker.precision,
        variants=examined.variants,
        error=examined.error,
        seconds=seconds,
        proven_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def proofs_folder(cache: Path | None = None) -> Path:
    """Return the folder of proofs. `cache`: the folder of programs, None for the user's."""
    return cache.with_name("proofs") if cache else cache_directory() / "proofs"
