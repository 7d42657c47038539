"""3 × 3 convolution with fewer multiplications, for GPUs with few registers: Winograd's minimal filtering."""

import re
from dataclasses import replace

import numpy as np

from edged.arithmetic import ceil_div
from edged.engine.launch import Launch, Weights
from edged.engine.layout import NUMBERS, Element, Tensor, window_defines
from edged.engine.variants.conv_general import CONV_GENERAL, accesses, fits_registers
from edged.engine.variants.conv_winograd import can_compute, pack_weights
from edged.engine.variants.convolution import convolution_defines, halo_of_window, pack_bias
from edged.engine.variants.elementwise import activation_defines
from edged.engine.variants.variant import WORK_GROUP, Parameters, Site, Variant
from edged.model.activations import LINEAR
from edged.model.graph import Conv, Float32

POSITIONS = 9  # of the window
OUTPUTS = (4, 2)
# Accesses of a work-item that makes a row of a tile's frequencies, and of one that makes a row of its pixels
OF_FREQUENCIES = {2: 4 * 2 + 4, 4: 6 * 4 + 6}
OF_PIXELS = {2: 4 * 3 + 2, 4: 6 * 5 + 4}
# Cycles of a core for an access with what is computed beside it (docs/explanation/mali.md); of other GPUs unknown
CYCLES = ((r"mali-t", 3.0), (r"mali-g", 1.0))
BYTES_OF_A_CYCLE = 8  # that memory delivers, to all cores: weights are read once for a frame


def has_fewer_cycles(site: Site[Conv]) -> bool:
    """Return whether a Mali takes fewer cycles than by `conv_general`; weights are up to four times as many."""
    direct = accesses(site, CONV_GENERAL.parameters(site)[0], POSITIONS * site.inputs[0].blocks)
    _, by_frequencies = _cost(site, _parameters(site)[0])
    return bool(_cycles_of_an_access(site)) and by_frequencies < _slower(site, direct, POSITIONS)


def _cycles_of_an_access(site: Site[Conv]) -> float:
    """Return the cycles of an access; 0 for a GPU of which nothing is known."""
    return next((cycles for name, cycles in CYCLES if re.search(name, site.device.name.casefold())), 0.0)


def _parameters(site: Site[Conv]) -> tuple[Parameters, ...]:
    """Return the sizes of tiles with the shapes in which `conv_general` multiplies, the cheapest first.

    What is stored in 16 bits is rounded too much for tiles of 4.
    """
    fitting = [
        {"OUTPUT": output, **shape}
        for output in OUTPUTS
        if output <= min(site.output.height, site.output.width) and (output == 2 or not _is_rounded(site))
        for shape in CONV_GENERAL.parameters(_products_site(site, output))
        if site.output.blocks % shape["OUTS"] == 0
    ]
    return tuple(sorted(fitting, key=lambda parameters: _cost(site, parameters)))


def _is_rounded(site: Site[Conv]) -> bool:
    return site.half_weights or site.inputs[0].element is not Element.FLOAT32


def _cost(site: Site[Conv], parameters: Parameters) -> tuple[bool, float]:
    """Estimate the cycles of the three launches for a frame, those whose sums fit into the registers first."""
    source, target, output = site.inputs[0], site.output, parameters["OUTPUT"]
    inner = _products_site(site, output)
    products = accesses(inner, parameters, source.blocks)
    rows = source.blocks * (output + 2) * OF_FREQUENCIES[output] + target.blocks * output * OF_PIXELS[output]
    cycles = _slower(site, products + _tiles(site, output) * rows, (output + 2) ** 2)
    return not fits_registers(inner, parameters["TILE"], parameters["OUTS"]), cycles


def _slower(site: Site[Conv], count: int, positions: int) -> float:
    """Return the cycles of so many accesses, or those until the weights of so many positions were read if more."""
    weights = positions * site.inputs[0].channels * site.output.channels * (2 if site.half_weights else 4)
    cycles = _cycles_of_an_access(site) or 1.0
    return max(count * site.output.frames * cycles / site.device.compute_units, weights / BYTES_OF_A_CYCLE)


def _tiles(site: Site[Conv], output: int) -> int:
    return ceil_div(site.output.height, output) * ceil_div(site.output.width, output)


def _products_site(site: Site[Conv], output: int) -> Site[Conv]:
    """Return the site of `conv_general`: frequencies in, products out, which are floats."""
    source, target = site.inputs[0], site.output
    frequencies = _image(site, source, "frequencies", output)
    products = replace(_image(site, target, "products", output), element=Element.FLOAT32)
    return replace(site, inputs=(frequencies,), output=products)


def _image(site: Site[Conv], of: Tensor, name: str, output: int) -> Tensor:
    """Return the image of one row whose pixels are the tiles, with all frequencies of the blocks of a tensor."""
    channels = (output + 2) ** 2 * of.blocks * of.block
    name = f"{site.operator.name}.{name}"
    return Tensor(name, of.frames, channels, 1, _tiles(site, output), of.block, element=of.element)


def _launches(site: Site[Conv], parameters: Parameters) -> tuple[Launch, ...]:
    (source, *residual), target, name = site.inputs, site.output, site.operator.name
    output = parameters["OUTPUT"]
    tiles, inner = _tiles(site, output), _products_site(site, output)
    frequencies, products = inner.inputs[0], inner.output
    bias = Weights(lambda: pack_bias(site))
    defines = {
        **convolution_defines(site),
        "OUTPUT": output,
        "FREQUENCIES_TYPE": NUMBERS[frequencies.element],
    }

    def by_rows(kernel: str, arguments: tuple[Tensor | Weights, ...], rows: int) -> Launch:
        items = tiles * rows
        return Launch(kernel, name, defines, arguments, items, group=min(WORK_GROUP, items))

    return (
        by_rows("conv_frequencies_input", (source, frequencies), source.blocks * (output + 2)),
        _multiplication(site, inner, parameters),
        by_rows("conv_frequencies", (products, bias, target, *residual), target.blocks * output),
    )


def _multiplication(site: Site[Conv], inner: Site[Conv], parameters: Parameters) -> Launch:
    """Return the launch of `conv_general`: a window of 1 × 1 in as many groups as there are frequencies."""
    source, target, output = inner.inputs[0], inner.output, parameters["OUTPUT"]
    groups = (output + 2) ** 2
    shape = {name: parameters[name] for name in ("TILE", "OUTS")}
    items = ceil_div(target.width, shape["TILE"]) * target.blocks // shape["OUTS"]
    defines = {
        **inner.tensor_defines(),
        **window_defines((1, 1), (1, 1), (0, 0, 0, 0)),
        "GROUP_INPUTS": source.channels // groups,
        "GROUP_OUTPUTS": target.channels // groups,
        "SPAN": site.inputs[0].blocks,
        **activation_defines(LINEAR),
        "WEIGHTS_TYPE": int(site.half_weights),
        "WITH_RESIDUAL": 0,
        **shape,
    }
    weights = Weights(lambda: _weights_by_frequency(site, output), site.half_weights)
    zeros = Weights(lambda: np.zeros(target.channels, np.float32))
    return Launch(
        kernel="conv_general",
        operator=site.operator.name,
        defines=defines,
        arguments=(source, weights, zeros, target),
        items=items,
        group=min(parameters["GROUP"], items),
    )


def _weights_by_frequency(site: Site[Conv], output: int) -> Float32:
    """Pack weights as [frequency][out block][input channel][channel of out block]."""
    return np.ascontiguousarray(pack_weights(site, output).swapaxes(0, 1))


CONV_FREQUENCIES = Variant("conv_frequencies", _launches, _parameters, halo_of_window, can_compute)
