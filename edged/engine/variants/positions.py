"""Operators that change where values lie: flatten, another order, images side by side, another size, sampling."""

from dataclasses import replace
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.engine.launch import Launch, Weights
from edged.engine.layout import NO_HALO, Tensor, image_shape, to_memory
from edged.engine.variants.pixelwise import Runs, across_channels, pixelwise, same_blocks, with_constants
from edged.engine.variants.variant import WORK_GROUP, Parameters, Site, Variant
from edged.model.graph import Flatten, Float32, GridSample, Interpolate, Join, Rearrange

Places = NDArray[np.int32]


def _flatten(site: Site[Flatten], parameters: Parameters) -> tuple[Launch, ...]:
    """Return a kernel that computes where each feature lies; on a CPU, which divides slowly, one with a table."""
    source, features = site.inputs[0], site.output.blocks * site.output.block
    if site.device.kind == "cpu":
        values = source.channels * source.height * source.width
        flatten = site.operator
        return _moves(site, Rearrange(flatten.name, flatten.inputs, flatten.output, (values,), (values,), (1,)))
    return (
        Launch(
            kernel="flatten",
            operator=site.operator.name,
            defines=site.tensor_defines(),
            arguments=(*site.inputs, site.output),
            items=features,
            group=min(WORK_GROUP, features),
        ),
    )


FLATTEN = Variant("flatten", _flatten)


def _rearrange(site: Site[Rearrange], parameters: Parameters) -> tuple[Launch, ...]:
    return _moves(site, site.operator)


def _moves(site: Site[Any], operator: Rearrange) -> tuple[Launch, ...]:
    """Return the launch that moves the values of the input of `site` as `operator` says."""
    source, target = site.inputs[0], site.output
    is_whole = _moves_blocks(operator, source, target)

    def pack() -> Places:
        table = _table(operator, source, target)
        return np.ascontiguousarray(table[..., 0] if is_whole else table)

    constants, defines = Weights(pack, whole=np.int32), {"WHOLE_BLOCKS": int(is_whole)}
    if (target.height, target.width, target.halo) != (1, 1, NO_HALO):
        return (with_constants("rearrange", site, constants, defines),)
    launch = across_channels("rearrange", replace(site, output=_as_row(target)), defines, [constants])
    return (replace(launch, arguments=(source, constants, target)),)


def _as_row(vector: Tensor) -> Tensor:
    """Return a vector as a row of pixels, which lies in memory the same way: a block of it is a pixel.

    So a work-item writes many blocks, and not one alone.
    """
    return replace(vector, channels=vector.block, width=vector.blocks)


@lru_cache(maxsize=1024)
def _moves_blocks(operator: Rearrange, source: Tensor, target: Tensor) -> bool:
    """Return whether the channels of each block of the output are those of a block of the input."""
    table = _table(operator, source, target)
    in_a_row = table[..., :1] + np.arange(target.block, dtype=np.int32)
    return bool(
        source.block == target.block and (table[..., 0] % target.block == 0).all() and (table == in_a_row).all()
    )


def _table(operator: Rearrange, source: Tensor, target: Tensor) -> Places:
    """Return where each value of the output lies in a frame of the input, [block, y, x, channel of the block].

    Beyond the last channel −1.
    """
    flat = operator.sources.reshape(target.channels, target.height, target.width)
    channel, pixel = np.divmod(flat, source.height * source.width)
    y, x = np.divmod(pixel, source.width)
    block, lane = np.divmod(channel, source.block)
    row = (block * source.rows + source.halo.top + y) * source.pitch + source.halo.left + x
    indices = np.full((target.blocks * target.block, target.height, target.width), -1, np.int32)
    indices[: target.channels] = row * source.block + lane
    split = indices.reshape(target.blocks, target.block, target.height, target.width)
    return np.ascontiguousarray(split.transpose(0, 2, 3, 1))


REARRANGE = Variant("rearrange", _rearrange)


def _join(site: Site[Join], parameters: Parameters) -> tuple[Launch, ...]:
    """Return a copy for each part, in their order: see `join.cl`."""
    join, parts = site.operator, list(site.inputs)
    if join.constant is not None:
        parts.insert(join.index, Tensor("constant", 1, *image_shape(join.constant.shape), block=site.output.block))
    sides = [tensor.height if join.axis == 1 else tensor.width for tensor in parts]
    firsts = accumulate(sides, initial=0)
    return tuple(_copy(site, tensor, first) for tensor, first in zip(parts, firsts, strict=False))


def _copy(site: Site[Join], part: Tensor, first: int) -> Launch:
    constant, runs = site.operator.constant, Runs(part, site.device)
    is_constant = constant is not None and part not in site.inputs
    begin = {"FIRST_ROW": first if site.operator.axis == 1 else 0}
    begin |= {"FIRST_COLUMN": first if site.operator.axis == 2 else 0}
    frames = 1 if is_constant else site.output.frames
    return Launch(
        kernel="join",
        operator=site.operator.name,
        defines={
            **part.defines("IN"),
            **site.output.defines("OUT"),
            **begin,
            "RUN": runs.length,
            "IN_FRAMES": frames,
        },
        arguments=(_packed(constant, part) if constant is not None and is_constant else part, site.output),
        items=runs.count,
        planes=part.blocks,
        group=runs.group,
    )


def _packed(constant: Float32, tensor: Tensor) -> Weights:
    return Weights(lambda: np.asarray(to_memory(tensor, constant[np.newaxis]), np.float32))


JOIN = Variant("join", _join, can_compute=same_blocks)


def _grid_sample(site: Site[GridSample], parameters: Parameters) -> tuple[Launch, ...]:
    operator = site.operator
    how = {"IMAGES": operator.images, "ALIGN_CORNERS": int(operator.align_corners)}
    return (pixelwise("grid_sample", site, how),)


def _is_of_output_blocks(site: Site[GridSample]) -> bool:
    """Return whether the images have the output's blocks; the positions may have others."""
    return site.inputs[0].block == site.output.block


GRID_SAMPLE = Variant("grid_sample", _grid_sample, can_compute=_is_of_output_blocks)


def _interpolate(site: Site[Interpolate], parameters: Parameters) -> tuple[Launch, ...]:
    operator = site.operator
    indices = Weights(lambda: _in_a_row(operator.row_indices, operator.column_indices), whole=np.int32)
    weights = Weights(lambda: _in_a_row(operator.row_weights, operator.column_weights))
    taps = {"ROW_TAPS": operator.row_indices.shape[1], "COLUMN_TAPS": operator.column_indices.shape[1]}
    launch = pixelwise("interpolate", site, taps)
    return (replace(launch, arguments=(*site.inputs, indices, weights, site.output)),)


def _in_a_row(rows: NDArray[Any], columns: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([rows.reshape(-1), columns.reshape(-1)])


INTERPOLATE = Variant("interpolate", _interpolate, can_compute=same_blocks)
