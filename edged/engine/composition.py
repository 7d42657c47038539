"""Compose the kernels of a plan into one, so that a frame does not wait between launches.

Each kernel of the plan becomes a function: its source once more, with its own macros, and its names made unique.
`kernels/one_launch.cl` says how work-groups share the work-items of each and wait for one another.
"""

import platform
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from edged.arithmetic import ceil_div
from edged.engine.device import POCL, Device
from edged.engine.launch import Argument, Images, Launch, Weights
from edged.engine.layout import Tensor
from edged.engine.packed import WeightPlace, weights_of
from edged.engine.planner import Plan
from edged.engine.programs import source_of, takes_assembly

PAUSES = {"x86_64": "pause", "aarch64": "yield"}  # by the machine's name

PLACES = ("arena", "images", "output")
FIXED_PARAMETERS = (
    "counters state",
    "const int parts",
    "const int frames",
    *(f"__global uchar *{index}" for index in PLACES),
)

# Of one launch: a compiler's time grows faster than its kernel. On an EPYC PoCL takes 321 s for 396 layers of an
# RT-DETR in one launch, and 72 s in four.
MOST_LAYERS = 128
FETCHED = 2  # bytes of weights, which nobody writes, cost as much as one that another processor reads or writes

MACRO = re.compile(r"^\s*#\s*define\s+(\w+)", re.MULTILINE)
FUNCTION = re.compile(r"^\w+ \*?(\w+)\([^;{}]*\)\n\{", re.MULTILINE)
TYPE = re.compile(r"^typedef [\w()]+ (\w+);", re.MULTILINE)
KERNEL = re.compile(r"^KERNEL void \w+\(", re.MULTILINE)


@dataclass(frozen=True)
class ComposedKernel:
    """A kernel of a composition: a launch without its arguments, and those as expressions in OpenCL C.

    by_columns: each work-group begins with some columns of its work-items in all planes, not with some planes.
    """

    launch: Launch
    arguments: tuple[str, ...]
    by_columns: bool


@dataclass(frozen=True)
class Composition:
    """Consecutive steps of a plan, from its step `first` on, that become one kernel."""

    first: int
    kernels: tuple[ComposedKernel, ...] = ()


def compositions(plan: Plan, device: Device, weights: Mapping[Weights, WeightPlace]) -> tuple[Composition, ...]:
    """Divide a plan with its weights at these places into compositions; some steps may be in none.

    A step that cannot be part of one ends the composition before it: one on the host, or a kernel whose work-items
    wait for one another. Long ones are divided evenly. None on other devices than CPUs, where a work-item fills a
    unit.
    """
    found: list[Composition] = []
    for index, step in enumerate(plan.launches if device.kind == "cpu" else ()):
        if not isinstance(step, Launch) or "barrier(" in source_of(step.kernel):
            continue
        follows = found and index == found[-1].first + len(found[-1].kernels)
        composition = found.pop() if follows else Composition(index)
        arguments = tuple(_expression(plan, each, weights) for each in step.arguments)
        kernel = ComposedKernel(replace(step, arguments=(), group=1), arguments, _is_by_columns(step, weights))
        found.append(Composition(composition.first, (*composition.kernels, kernel)))
    return tuple(each for composition in found if len(composition.kernels) > 1 for each in _divided(composition))


def _divided(composition: Composition) -> Iterator[Composition]:
    """Yield compositions of at most `MOST_LAYERS` layers, as even as possible."""
    layers = len(composition.kernels)
    count = ceil_div(layers, MOST_LAYERS)
    for number in range(count):
        begin, end = layers * number // count, layers * (number + 1) // count
        yield Composition(composition.first + begin, composition.kernels[begin:end])


def _is_by_columns(launch: Launch, weights: Mapping[Weights, WeightPlace]) -> bool:
    """Return whether a layer's parts are columns, which share its weights, or planes, which share its inputs."""
    pixels = sum(each.nbytes for each in launch.arguments if isinstance(each, Tensor | Images))
    return sum(weights[each].nbytes for each in weights_of(launch)) < FETCHED * pixels


def _expression(plan: Plan, argument: Argument, weights: Mapping[Weights, WeightPlace]) -> str:
    """Return where an argument is, in OpenCL C."""
    match argument:
        case Weights():
            where = f"(w{weights[argument].buffer} + {weights[argument].offset})"
        case _ if argument == plan.images:
            where = "images"
        case _ if argument == plan.output:
            where = "output"
        case Tensor(name=name):
            where = f"(arena + {plan.arena.offsets[name]})"
        case _:
            raise TypeError(f"{type(argument).__name__} is no argument of a plan")
    return f"(__global void *){where}"


def compose(kernels: Sequence[ComposedKernel], buffers: int, pause: str = "") -> str:
    """Return the source of the kernel `one_launch` that computes all `kernels`, with so many `buffers` of weights.

    `pause`: see `pause_on`.
    """
    programs: dict[tuple[str, tuple[str, ...]], int] = {}
    functions, calls = [], []
    for index, kernel in enumerate(kernels):
        program = kernel.launch.kernel, kernel.launch.options
        if program not in programs:
            programs[program] = len(programs)
            functions.append(_function(kernel.launch, programs[program]))
        calls.append(_call(index, kernel, programs[program]))
    parameters = [*FIXED_PARAMETERS, *(f"__global uchar *w{number}" for number in range(buffers))]
    return "\n".join([pause, source_of("one_launch"), *functions, _kernel(parameters, calls)])


def _function(launch: Launch, number: int) -> str:
    """Return the kernel of `launch` as the function `launch_NUMBER`, and nothing else that keeps its name."""
    source = source_of(launch.kernel)
    options = dict(option.removeprefix("-D").split("=", 1) for option in launch.options)
    names = dict.fromkeys([*FUNCTION.findall(source), *TYPE.findall(source)])
    body = KERNEL.sub(f"void launch_{number}(const int3 launch_place, ", source)
    return "\n".join(
        [
            *(f"#define {name} {value}" for name, value in options.items()),
            *(f"#define {name} {name}_{number}" for name in names),
            body.replace("__constant ", "__global const "),  # as all weights are passed
            *(f"#undef {name}" for name in dict.fromkeys([*options, *names, *MACRO.findall(source)])),
        ]
    )


def _call(index: int, kernel: ComposedKernel, number: int) -> str:
    items, rows = kernel.launch.items, kernel.launch.planes if kernel.launch.frames_last else "frames"
    where = f"(int3)(column, row % {rows}, row / {rows})"
    call = f"launch_{number}({', '.join([where, *kernel.arguments])})"
    sizes = f"{items}, {kernel.launch.planes} * frames"
    return f"    LAYER({index}, {int(kernel.by_columns)}, {sizes}, ({call}))"


def _kernel(parameters: Sequence[str], calls: Sequence[str]) -> str:
    return "\n".join(
        [
            f"__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void one_launch({', '.join(parameters)})",
            "{",
            "    const int own = get_group_id(0) % parts;",
            "    int is_here = 1;",
            *calls,
            f"    leave(state, parts, {len(calls)});",
            "}",
        ]
    )


def pause_on(device: Device) -> str:
    """Return the definition of PAUSE for the assembler of PoCL's compiler; none for others."""
    is_possible = device.platform == POCL and takes_assembly(device)
    instruction = PAUSES.get(platform.machine()) if is_possible else None
    return f'#define PAUSE __asm__ volatile("{instruction}")' if instruction else ""
