"""Fully connected layers, and matrix products of two computed tensors."""

import numpy as np

from edged.arithmetic import ceil_div
from edged.engine.launch import Argument, Launch, Weights
from edged.engine.layout import float_bits
from edged.engine.variants.convolution import pack_bias
from edged.engine.variants.elementwise import activation_defines
from edged.engine.variants.pixelwise import same_blocks
from edged.engine.variants.tiles import tiles
from edged.engine.variants.variant import WORK_GROUP, Parameters, Site, Variant
from edged.model.graph import Dense, Float32, Product

GPU_TILES = (4, 2, 1)


def _dense(site: Site[Dense], parameters: Parameters) -> tuple[Launch, ...]:
    blocks = site.output.blocks
    return (
        Launch(
            kernel="dense",
            operator=site.operator.name,
            defines={**dense_defines(site), **parameters},
            arguments=dense_arguments(site),
            items=blocks,
            group=1 if site.device.kind == "cpu" else min(WORK_GROUP, blocks),
        ),
    )


def dense_defines(site: Site[Dense]) -> dict[str, int]:
    """Return every macro of `fully_connected.cl`, including those of the tensors."""
    ending = activation_defines(site.operator.activation)
    return {**site.tensor_defines(), **ending, "WEIGHTS_TYPE": int(site.half_weights)}


def dense_arguments(site: Site[Dense]) -> tuple[Argument, ...]:
    """Return the arguments: input, weights and bias, output."""
    (source,) = site.inputs
    weights = Weights(lambda: _pack_weights(site), site.half_weights)
    return source, weights, Weights(lambda: pack_bias(site)), site.output


def _pack_weights(site: Site[Dense]) -> Float32:
    """Pack weights as [out block][input][channel of out block], zero for missing ones."""
    source, target = site.inputs[0], site.output
    outputs, inputs = site.operator.weight.shape
    packed = np.zeros((target.blocks * target.block, source.blocks * source.block), np.float32)
    packed[:outputs, :inputs] = site.operator.weight
    return np.ascontiguousarray(packed.reshape(target.blocks, target.block, -1).transpose(0, 2, 1))


DENSE = Variant("dense", _dense, lambda site: tuple({"LANES": lanes} for lanes in (8, 4, 2, 1)))


def _dense_split(site: Site[Dense], parameters: Parameters) -> tuple[Launch, ...]:
    group = parameters["GROUP"]
    return (
        Launch(
            kernel="dense_split",
            operator=site.operator.name,
            defines=dense_defines(site),
            arguments=dense_arguments(site),
            items=site.output.blocks * group,
            group=group,
        ),
    )


DENSE_SPLIT = Variant(
    "dense_split", _dense_split, lambda site: tuple({"GROUP": group} for group in (WORK_GROUP, 16, 32, 128, 256))
)


def _product_parameters(site: Site[Product]) -> tuple[Parameters, ...]:
    """Return the tiles of one row, the best guess first."""
    width = site.output.width
    if site.device.kind != "cpu":
        return tuple({"TILE": tile} for tile in GPU_TILES if tile <= width)
    return tuple({"TILE": columns} for _, columns in tiles(1, width, site.output.block))


def _product(site: Site[Product], parameters: Parameters) -> tuple[Launch, ...]:
    items = site.output.height * ceil_div(site.output.width, parameters["TILE"])
    return (
        Launch(
            kernel="product",
            operator=site.operator.name,
            defines={**site.tensor_defines(), **parameters, "FACTOR": float_bits(site.operator.factor)},
            arguments=(*site.inputs, site.output),
            items=items,
            planes=site.output.blocks,
            group=1 if site.device.kind == "cpu" else min(WORK_GROUP, items),
        ),
    )


PRODUCT = Variant("product", _product, _product_parameters, can_compute=same_blocks)
