"""Keep the packed weights of a plan on disk, where the next start maps them.

One entry a plan: the arrays in the order of its launches, each on a page of its own, so that a CPU device can use
them where they are; then their offsets and sizes as JSON; then the length of that, 8 bytes, little-endian.
"""

import json
import logging
import mmap
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.engine.launch import PlanStep, Weights, kernels_of
from edged.engine.planner import Plan
from edged.model.package import Input
from edged.system.disk_cache import CacheEntries, Piece, code_sha256

PAGE = 4096

Packed = NDArray[Any]
Source = Callable[[Weights], Packed]

log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class MappedWeights:
    """Packed weights in one memory that cannot be written: offset and size of each, in bytes."""

    memory: NDArray[np.uint8]
    places: Mapping[Weights, tuple[int, int]]

    def __call__(self, weights: Weights) -> Packed:
        """Return the weights as an array of the device's type, in one dimension."""
        offset, size = self.places[weights]
        return self.memory[offset : offset + size].view(weights.dtype)


def pack(weights: Weights) -> Packed:
    """Convert weights to the device's float32 or float16, in one dimension."""
    return np.ascontiguousarray(weights.pack(), weights.dtype).reshape(-1)


def weights_of(*launches: PlanStep) -> tuple[Weights, ...]:
    """Return all weights, in the order of the launches and their arguments."""
    return tuple(argument for launch in launches for argument in launch.arguments if isinstance(argument, Weights))


def plan_key(plan: Plan, model: str, wanted: Input | None) -> str:
    """Return everything that the packed weights depend on: model, layouts of the kernels, and the packing code."""
    launches = [
        [one.kernel, one.operator, one.options, [str(weights.dtype) for weights in weights_of(one)]]
        for one in kernels_of(plan.launches)
    ]
    code = [code_sha256("edged.engine.variants"), code_sha256("edged.model")]
    return sha256(json.dumps([model, wanted and asdict(wanted), launches, code]).encode()).hexdigest()


def packed_weights(
    directory: Path,
    model: str | None,
    wanted: Input | None,
    plan: Plan,
    whole: Callable[[], Plan],
    *,
    mapped: bool = False,
) -> tuple[Plan, Source]:
    """Return a plan with packed weights: `plan` with those kept in `directory`, or `whole()`, packed now.

    model: SHA-256 of the weights of the plan; without it nothing is kept. `whole` makes the same plan from a graph
    whose weights may be read. mapped: the source is `MappedWeights` in any case.
    """
    kept = CacheEntries(directory, "packed")
    key = None if model is None else plan_key(plan, model, wanted)
    if key and (content := kept.load(key)):
        return plan, _mapped(content, plan)
    plan = whole()
    if key:
        _save(kept, key, plan)
    if key and (content := kept.load(key)):
        return plan, _mapped(content, plan)
    return plan, _mapped(_packed_in_memory(plan), plan) if mapped else pack


def _mapped(content: memoryview, plan: Plan) -> MappedWeights:
    length = int.from_bytes(content[-8:], "little")
    places = json.loads(bytes(content[-8 - length : -8]))
    found = zip(weights_of(*plan.launches), places, strict=True)
    return MappedWeights(np.frombuffer(content, np.uint8), {weights: tuple(place) for weights, place in found})


def _packed_in_memory(plan: Plan) -> memoryview:
    """Pack one array after the other into memory that no file keeps."""
    with open(os.memfd_create("weights"), "wb+") as file:
        file.writelines(_pieces(plan))
        file.flush()
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _save(kept: CacheEntries, key: str, plan: Plan) -> None:
    """Pack one array after the other. A cache that cannot be written is logged."""
    try:
        kept.save(key, _pieces(plan))
    except OSError as error:
        log.warning("packed weights cannot be kept, so the next start will pack them again: %s", error)


def _pieces(plan: Plan) -> Iterator[Piece]:
    places, offset = [], 0
    for weights in weights_of(*plan.launches):
        array = pack(weights)
        places.append((offset, array.nbytes))
        yield array.data.cast("B")
        yield bytes(-array.nbytes % PAGE)
        offset += array.nbytes + -array.nbytes % PAGE
    index = json.dumps(places).encode()
    yield index
    yield len(index).to_bytes(8, "little")
