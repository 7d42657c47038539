"""How often the loops of a kernel run, as far as its plan knows: Mesa's compilers count each loop once.

A kernel is compiled a second time without its inner loops, by a macro that makes them empty. The difference is
what one pass costs.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import prod

from edged.arithmetic import ceil_div
from edged.engine.launch import Launch

Trips = Callable[[Mapping[str, int]], int]


def _of(name: str) -> Trips:
    return lambda defines: defines.get(name, 1)


def _side(defines: Mapping[str, int]) -> int:
    return defines["OUTPUT"] + 2


def _shared_inputs(defines: Mapping[str, int]) -> int:
    return ceil_div(defines["IN_BLOCKS"] * defines["IN_BLOCK"], defines["GROUP"])


def _lanes_of_inputs(defines: Mapping[str, int]) -> int:
    return defines["IN_BLOCKS"] * defines["IN_BLOCK"] // defines["LANES"]


def _positions_of_blocks(defines: Mapping[str, int]) -> int:
    together = defines["SPAN"] if defines["IN_BLOCK"] == 1 and defines["SPAN"] <= 4 else 1
    return defines["SPAN"] // together * defines["KERNEL_H"] * defines["KERNEL_W"]


def _tiles(defines: Mapping[str, int]) -> int:
    return ceil_div(defines["RUN"], defines["TILE"])


def _channels(defines: Mapping[str, int]) -> int:
    """Return how many channels of a prepared pixel are written one by one: IS_ONE_STORE of `prepare.cl`."""
    at_once = defines["RUN"] == 1 and defines["OUT_BLOCK"] == 4 and defines["OUT_BLOCKS"] == 1
    return 1 if at_once else defines["OUT_BLOCK"]


RUN, ROWS, COLUMNS, BLOCKS = _of("RUN"), _of("KERNEL_H"), _of("KERNEL_W"), _of("SPAN")


@dataclass(frozen=True)
class Nest:
    """The loops of a kernel.

    around: those around nearly all of it, the outermost first. kept: those around the inner ones alone. inner:
    those that are removed by making the macro `without` 0, the outermost first. The compiler unrolls inner ones
    where they are short.
    """

    around: tuple[Trips, ...] = ()
    kept: tuple[Trips, ...] = ()
    inner: tuple[Trips, ...] = ()
    without: str = ""


ACROSS = Nest(around=(RUN, _of("OUT_BLOCKS")))
TILES_OF_BYTES = Nest(inner=(BLOCKS, ROWS, COLUMNS), without="KERNEL_W")
NESTS: Mapping[str, Nest] = {
    "average_pool": Nest(around=(RUN, ROWS, COLUMNS)),
    "conv_depthwise": Nest(around=(_of("BAND"), _tiles), inner=(ROWS,), without="KERNEL_H"),
    "conv_frequencies": Nest(inner=(_side,), without="COLUMNS"),
    "conv_frequencies_input": Nest(),
    "conv_general": Nest(inner=(_positions_of_blocks,), without="SPAN"),
    "conv_naive": Nest(inner=(_of("GROUP_INPUTS"), ROWS, COLUMNS), without="KERNEL_W"),
    "conv_vector": Nest(inner=(BLOCKS, ROWS, COLUMNS, _of("IN_BLOCK")), without="KERNEL_W"),
    "conv_winograd": Nest(kept=(_side, _side), inner=(_of("IN_BLOCKS"), _of("IN_BLOCK")), without="IN_BLOCKS"),
    "conv_winograd_input": Nest(around=(_of("TILES"),)),
    "dense": Nest(inner=(_lanes_of_inputs,), without="IN_BLOCKS"),
    "dense_split": Nest(inner=(_shared_inputs,), without="IN_BLOCKS"),
    "layer_norm": ACROSS,
    "max_pool": Nest(around=(RUN, ROWS, COLUMNS)),
    "prepare": Nest(around=(_channels, RUN)),
    "prepare_steps": Nest(around=(_of("OUT_BLOCK"), RUN)),
    "product": Nest(inner=(_of("IN_BLOCKS"), _of("IN_BLOCK")), without="IN_BLOCKS"),
    "quantized_depthwise": Nest(around=(_of("BAND"), _tiles), inner=(ROWS,), without="KERNEL_H"),
    "quantized_dot": TILES_OF_BYTES,
    "quantized_naive": Nest(inner=(_of("GROUP_INPUTS"), ROWS, COLUMNS), without="KERNEL_W"),
    "quantized_vector": TILES_OF_BYTES,
    "reduce_channels": Nest(around=(RUN, _of("IN_BLOCKS"))),
    "softmax": ACROSS,
} | dict.fromkeys(  # a work-item a pixel: their loop runs once
    ("activate", "add", "combine", "concat", "dequantize", "interpolate", "join", "quantize", "quantized_add",
     "rearrange", "select_channels"),
    Nest(around=(RUN,)),
)  # fmt: skip


@dataclass(frozen=True)
class KnownLoops:
    """The trips of a launch's loops, as in `Nest`."""

    around: tuple[int, ...]
    kept: tuple[int, ...]
    inner: tuple[int, ...]

    def passes(self, left: int, removed: int) -> tuple[int, int]:
        """Return how often all of the kernel runs, and how often what the compiler left of the inner loops.

        `left`: loops that the compiler counts without the inner ones, `removed`: how many more with them. It
        unrolls the innermost first, and an inner one of a single trip always.
        """
        longer = [trips for trips in self.inner if trips > 1]
        return prod(self.around[:left]), prod(self.kept) * prod(longer[:removed])


def known_loops(launch: Launch) -> KnownLoops | None:
    """Return the trips of a launch's loops; None for a kernel that this module does not know."""
    nest = NESTS.get(launch.kernel)
    if nest is None:
        return None
    defines = {**launch.defines, "GROUP": launch.group}
    return KnownLoops(
        *(tuple(trips(defines) for trips in loops) for loops in (nest.around, nest.kept, nest.inner))
    )


def without_inner_loops(launch: Launch) -> Launch | None:
    """Return the launch whose kernel has no inner loops; None where it has none that can be removed."""
    nest = NESTS.get(launch.kernel)
    if nest is None or not nest.without:
        return None
    return replace(launch, defines={**launch.defines, nest.without: 0})
