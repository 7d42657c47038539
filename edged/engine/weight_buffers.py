"""The weights of a plan on a CPU, in the memory where they are mapped."""

from dataclasses import dataclass
from typing import Any

from edged.engine.launch import Weights
from edged.engine.opencl import cl
from edged.engine.packed import MappedWeights


@dataclass(frozen=True)
class WeightPlace:
    """Where weights are: the number of a buffer, and the offset in it in bytes."""

    buffer: int
    offset: int


class WeightBuffers:
    """Buffers over mapped weights: one, or as few as the largest buffer of the device allows.

    A launch has few buffers then, however many layers it computes: PoCL spends some microseconds on each.
    """

    def __init__(self, context: Any, packed: MappedWeights, most_bytes: int) -> None:
        """`most_bytes`: of a buffer; larger weights have a buffer of their own. Raises cl.Error."""
        self.places: dict[Weights, WeightPlace] = {}
        self._sizes = {weights: size for weights, (_, size) in packed.places.items()}
        parts: list[tuple[int, int]] = []  # begin and end of each buffer in the memory
        for weights, (offset, size) in sorted(packed.places.items(), key=lambda item: item[1]):
            begin = parts.pop()[0] if parts and offset + size - parts[-1][0] <= most_bytes else offset
            parts.append((begin, offset + size))
            self.places[weights] = WeightPlace(len(parts) - 1, offset - begin)
        flags = cl.mem_flags.READ_ONLY | cl.mem_flags.USE_HOST_PTR
        self.buffers = tuple(cl.Buffer(context, flags, hostbuf=packed.memory[slice(*part)]) for part in parts)

    def memory_of(self, weights: Weights) -> Any:
        """Return these weights as a part of their buffer."""
        place = self.places[weights]
        return self.buffers[place.buffer].get_sub_region(place.offset, self._sizes[weights])
