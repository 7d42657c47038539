"""Sources compile on PoCL by few declarations of built-in functions, or by its whole header, to the same."""

from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edged.engine import compiling
from edged.engine.compiling import build, compile_source, shortened
from edged.engine.composition import compose, compositions
from edged.engine.device import POCL, Device, Kind, open_device
from edged.engine.launch import Launch
from edged.engine.layout import Element, Tensor
from edged.engine.opencl import cl, in_one_line
from edged.engine.packed import WeightPlace, weights_of
from edged.engine.planner import make_plan
from edged.engine.programs import Binaries, Programs, compiler_options, source_of
from edged.engine.variants.elementwise import ACTIVATION_NUMBERS, COMBINATION_NUMBERS
from edged.model.model_part import ModelPart
from tests.engine.conftest import CPUS, name_of
from tests.engine.networks import RGB, small_network
from tests.engine.records import BOARD

FILES = sorted(file.name.removesuffix(".cl") for file in (files("edged.engine") / "kernels").iterdir())
KERNELS = [name for name in FILES if name != "pocl_builtins"]
TENSORS = [Tensor("x", 1, 32, 8, 8, block, element=each) for block in (1, 4, 8, 16) for each in Element]
LAUNCHES = {
    **{kernel: (kernel, {}) for kernel in KERNELS},
    **{f"{x.element} by {x.block}": ("activate", {**x.defines("IN"), **x.defines("OUT")}) for x in TENSORS},
    **{
        kind: ("activate", {"ACTIVATION": number, "ACTIVATION_ALPHA": 0, "ACTIVATION_BETA": 0})
        for kind, number in ACTIVATION_NUMBERS.items()
    },
    "power": ("combine", {"COMBINATION": COMBINATION_NUMBERS["power"], "REVERSED": 0, "RESIDUAL_FRAMES": 2}),
    **{f"conv_general of {x.element}": ("conv_general", x.defines("IN")) for x in TENSORS if x.block == 4},
    **{
        f"gather_vectors by {x.block}": ("gather_vectors", {**x.defines("IN"), **x.defines("OUT")})
        for x in TENSORS
        if x.block > 1 and x.element == Element.FLOAT32
    },
}
COSPI = "__kernel void turn(__global float *a) { a[0] = cospi(a[0]); }"  # a function that edged does not use


@pytest.fixture(
    scope="module", params=[pytest.param(each, id=name_of(each)) for each in CPUS if each.platform == POCL]
)
def pocl(request: pytest.FixtureRequest) -> Device:
    found: Device = request.param
    return found


@pytest.fixture(scope="module")
def context(pocl: Device) -> cl.Context:
    """PoCL reads its library anew for each context."""
    return cl.Context([open_device(pocl)])


def build_shortened(context: cl.Context, device: Device, source: str, options: Sequence[str]) -> Any:
    short, short_options = shortened(device, source, options)
    return build(cl.Program(context, short), short_options)


def assert_compiles_shortened(
    context: cl.Context, device: Device, source: str, options: tuple[str, ...] = ()
) -> None:
    try:
        build_shortened(context, device, source, [*compiler_options(device), *options])
    except cl.Error as error:
        pytest.fail(f"declare in edged/engine/kernels/pocl_builtins.cl what is missing: {in_one_line(error)}")


@pytest.mark.deep
@pytest.mark.parametrize("launch", LAUNCHES.values(), ids=LAUNCHES)
def test_all_functions_that_a_kernel_calls_are_declared(
    pocl: Device, context: cl.Context, launch: tuple[str, dict[str, int]]
) -> None:
    kernel, defines = launch
    options = Launch(kernel, "some operator", defines, (), items=1).options

    assert_compiles_shortened(context, pocl, source_of(kernel), options)


def test_all_functions_that_a_network_in_one_launch_calls_are_declared(pocl: Device, context: cl.Context) -> None:
    plan = make_plan(ModelPart(small_network(), RGB), pocl, 1)
    places = dict.fromkeys(weights_of(*plan.launches), WeightPlace(0, 0, 0))
    (composition,) = compositions(plan, pocl, places)

    assert_compiles_shortened(context, pocl, compose(composition.kernels, buffers=1))


def test_a_function_that_is_not_declared_comes_from_the_whole_header(pocl: Device, context: cl.Context) -> None:
    options = compiler_options(pocl)
    with pytest.raises(cl.Error, match="cospi"):
        build_shortened(context, pocl, COSPI, options)

    kernel = cl.Kernel(compile_source(context, pocl, COSPI, options), "turn")

    numbers = np.ones(1, np.float32)
    run(context, kernel, numbers, items=(1,))
    assert numbers[0] == -1


def run(context: cl.Context, kernel: cl.Kernel, *memory: np.ndarray, items: tuple[int, ...]) -> None:
    """Run `kernel` on these buffers, which are changed."""
    queue = cl.CommandQueue(context)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
    buffers = [cl.Buffer(context, flags, hostbuf=each) for each in memory]
    kernel(queue, items, (1,) * len(items), *buffers)
    for buffer, numbers in zip(buffers, memory, strict=True):
        cl.enqueue_copy(queue, numbers, buffer)


@pytest.mark.parametrize("declarations", ["float min(float);", "#error no such file\n"])
def test_what_the_compiler_makes_of_wrong_declarations_does_not_matter(
    pocl: Device, context: cl.Context, monkeypatch: pytest.MonkeyPatch, declarations: str
) -> None:
    monkeypatch.setattr(compiling, "pocl_builtins", lambda: declarations)

    program = compile_source(cl.Context([open_device(pocl)]), pocl, source_of("activate"), compiler_options(pocl))

    assert program.kernel_names == "activate"


def test_an_error_is_that_of_the_whole_header(pocl: Device, context: cl.Context) -> None:
    with pytest.raises(cl.Error, match=r":1:\d+: .*'none'"):
        compile_source(context, pocl, "__kernel void turn(__global float *a) { a[0] = none; }", ["-cl-std=CL1.2"])


@pytest.mark.parametrize("activation", ["gelu", "mish", "softplus", "elu"])
def test_numbers_are_the_same_bit_for_bit(pocl: Device, context: cl.Context, activation: str) -> None:
    defines = {"ACTIVATION": ACTIVATION_NUMBERS[activation], "ACTIVATION_ALPHA": 0x3F800000, "ACTIVATION_BETA": 0}
    options = [*compiler_options(pocl), *Launch("activate", "some operator", defines, (), items=1).options]
    source = source_of("activate")
    images = np.random.default_rng(0).standard_normal((8, 10, 10, 4), np.float32) * 3
    found = []

    for program in (
        build(cl.Program(context, source), options),
        build_shortened(context, pocl, source, options),
    ):
        found.append(np.full((8, 8, 8, 4), np.nan, np.float32))
        run(context, cl.Kernel(program, "activate"), images, found[-1], items=(64, 1, 8))

    assert not np.isnan(found[0]).any()
    assert found[0].tobytes() == found[1].tobytes()


@pytest.mark.parametrize(
    ("platform", "kind"), [("rusticl", "cpu"), ("Intel(R) OpenCL", "cpu"), ("ARM Platform", "gpu"), (POCL, "gpu")]
)
def test_other_compilers_get_sources_as_they_are(platform: str, kind: Kind) -> None:
    device = replace(BOARD, platform=platform, kind=kind)

    assert shortened(device, COSPI, ["-Werror"]) == (COSPI, ["-Werror"])


def test_a_program_with_other_declarations_is_another(
    pocl: Device, context: cl.Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = Programs(context, pocl, Binaries(tmp_path))
    before = programs._key(COSPI, [])

    monkeypatch.setattr(compiling, "pocl_builtins", lambda: "")

    assert programs._key(COSPI, []) != before
