"""Keep the packed weights of a plan on disk, where the next start finds them.

One entry a plan: the arrays in the order of its launches, each on a page of its own, so that a CPU device can use
them as they lie; then their offsets and sizes as JSON; then the length of that, 8 bytes, little-endian.
"""

import json
import logging
import mmap
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.engine.launch import PlanStep, Weights, kernels_of
from edged.engine.opencl import cl
from edged.engine.planner import Plan
from edged.errors import DeviceError
from edged.model.model_part import ModelPart
from edged.model.package import Input
from edged.system.disk_cache import CacheEntries, Piece, code_sha256, read_once

PAGE = 4096
LARGEST_HALF = 65504
MOST_LOST = 0.01  # of an operator's weights, by rounding to float16
LEAST_BYTES = 2**22  # of memory that is reserved, from which it grows

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
    """Convert weights to the device's float32 or float16, in one dimension.

    Raises DeviceError if float16 does not hold them.
    """
    return _converted(weights, weights.pack())


def _converted(weights: Weights, numbers: NDArray[Any], operator: str = "") -> Packed:
    with np.errstate(over="ignore"):  # the next line reports it
        packed = np.ascontiguousarray(numbers, weights.dtype).reshape(-1)
    if weights.half and not np.isfinite(packed).all():
        largest = float(np.abs(numbers).max())
        raise DeviceError(
            f"weights{operator and f' of {operator}'} reach {largest:.3g}, and float16 ends at {LARGEST_HALF}: "
            "use precision fp32 or bf16"
        )
    return packed


def _lost(numbers: NDArray[Any], packed: Packed) -> float:
    """Return how far packed weights are from the original ones, as a share of those."""
    original = numbers.reshape(-1)
    return float(np.linalg.norm(packed - original) / max(float(np.linalg.norm(original)), 1e-30))


def _warn_of_loss(losses: Mapping[str, float]) -> None:
    """Warn once if weights are so small that the steps of float16 change them. losses: by operator."""
    operator = max(losses, key=lambda name: losses[name], default="")
    if operator and losses[operator] > MOST_LOST:
        log.warning(
            "float16 changes the weights of %s by %.0f %%, as they are small: use precision fp32 or bf16",
            *(operator, 100 * losses[operator]),
        )


def weights_of(*launches: PlanStep) -> tuple[Weights, ...]:
    """Return all weights, in the order of the launches and their arguments."""
    return tuple(argument for launch in launches for argument in launch.arguments if isinstance(argument, Weights))


def plan_key(plan: Plan, model: str, model_input: Input | None) -> str:
    """Return everything that the packed weights depend on: model, layouts of the kernels, and the packing code."""
    launches = [
        [one.kernel, one.operator, one.options, [str(weights.dtype) for weights in weights_of(one)]]
        for one in kernels_of(plan.launches)
    ]
    code = [code_sha256("edged.engine.variants"), code_sha256("edged.model")]
    return sha256(json.dumps([model, model_input and asdict(model_input), launches, code]).encode()).hexdigest()


def packed_weights(
    directory: Path,
    part: ModelPart,
    plan: Plan,
    whole: Callable[[], Plan],
    *,
    in_memory: bool = False,
) -> tuple[Plan, Source]:
    """Return a plan with packed weights: `plan` with those kept in `directory`, or `whole()`, packed now.

    part: of the plan; nothing is kept without `keeps_weights`. `whole` makes the same plan from a graph
    whose weights may be read. in_memory: the source is `MappedWeights` in memory of this process.
    """
    kept = CacheEntries(directory, "packed")
    key = plan_key(plan, part.sha256, part.input) if part.keeps_weights and part.sha256 else None
    content = kept.load(key) if key else None
    if content is None:
        plan = whole()
        content = _kept(kept, key, plan) if key else None
    if in_memory:
        content = _in_memory(read_once(content) if content else _pieces(plan))
    return plan, _mapped(content, plan) if content else pack


def _mapped(content: memoryview, plan: Plan) -> MappedWeights:
    length = int.from_bytes(content[-8:], "little")
    places = json.loads(bytes(content[-8 - length : -8]))
    found = zip(weights_of(*plan.launches), places, strict=True)
    return MappedWeights(np.frombuffer(content, np.uint8), {weights: tuple(place) for weights, place in found})


def _in_memory(pieces: Iterable[Piece]) -> memoryview:
    """Copy weights into memory of huge pages, where the system has them.

    A frame reads all weights, and with pages of 4 KiB a large network waits for their addresses: AlexNet takes
    1.06 of onnxruntime's time from a mapped file, and 0.90 so.
    """
    memory = mmap.mmap(-1, LEAST_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with suppress(OSError):  # a kernel without them
        memory.madvise(mmap.MADV_HUGEPAGE)
    end = 0
    for piece in pieces:
        begin, end = end, end + len(piece)
        while end > len(memory):
            memory.resize(2 * len(memory))  # addresses alone: memory is taken where it is written
        memory[begin:end] = piece
    memory.resize(end)
    return memoryview(memory).toreadonly()


def _kept(entries: CacheEntries, key: str, plan: Plan) -> memoryview | None:
    """Pack one array after the other into a new entry, and map it. A cache that cannot be written is logged."""
    try:
        entries.save(key, _pieces(plan))
    except OSError as error:
        log.warning("packed weights cannot be kept, so the next start will pack them again: %s", error)
    return entries.load(key)


def _pieces(plan: Plan) -> Iterator[Piece]:
    places, offset = [], 0
    losses: dict[str, float] = {}
    for launch in plan.launches:
        for weights in weights_of(launch):
            numbers = weights.pack()
            array = _converted(weights, numbers, launch.operator)
            if weights.half:
                losses[launch.operator] = max(losses.get(launch.operator, 0.0), _lost(numbers, array))
            places.append((offset, array.nbytes))
            yield array.data.cast("B")
            yield bytes(-array.nbytes % PAGE)
            offset += array.nbytes + -array.nbytes % PAGE
    _warn_of_loss(losses)
    index = json.dumps(places).encode()
    yield index
    yield len(index).to_bytes(8, "little")


@dataclass(frozen=True)
class WeightPlace:
    """Where weights are: the number of a buffer, and their offset in it and size, in bytes."""

    buffer: int
    offset: int
    nbytes: int


class WeightBuffers:
    """Buffers over mapped weights: one, or as few as the largest buffer of the device allows.

    A launch has few buffers then, however many layers it computes: PoCL spends some microseconds on each.
    """

    def __init__(self, context: Any, packed: MappedWeights, most_bytes: int) -> None:
        """`most_bytes`: of a buffer; larger weights have a buffer of their own. Raises cl.Error."""
        self.places: dict[Weights, WeightPlace] = {}
        parts: list[tuple[int, int]] = []  # begin and end of each buffer in the memory
        for weights, (offset, size) in sorted(packed.places.items(), key=lambda item: item[1]):
            begin = parts.pop()[0] if parts and offset + size - parts[-1][0] <= most_bytes else offset
            parts.append((begin, offset + size))
            self.places[weights] = WeightPlace(len(parts) - 1, offset - begin, size)
        flags = cl.mem_flags.READ_ONLY | cl.mem_flags.USE_HOST_PTR
        self.buffers = tuple(cl.Buffer(context, flags, hostbuf=packed.memory[slice(*part)]) for part in parts)

    def memory_of(self, weights: Weights) -> Any:
        """Return these weights as a part of their buffer."""
        place = self.places[weights]
        return self.buffers[place.buffer].get_sub_region(place.offset, place.nbytes)
