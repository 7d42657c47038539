"""The channels of several tensors, one behind the other."""

from itertools import accumulate

from edged.engine.launch import Launch
from edged.engine.layout import Tensor
from edged.engine.variants.pixelwise import Runs, same_blocks
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.graph import Concat


def _launches(site: Site[Concat], parameters: Parameters) -> tuple[Launch, ...]:
    """Return a copy for each input, in their order: see `concat.cl`."""
    firsts = accumulate((tensor.channels for tensor in site.inputs), initial=0)
    return tuple(_copy(site, tensor, first) for tensor, first in zip(site.inputs, firsts, strict=False))


def _copy(site: Site[Concat], source: Tensor, first: int) -> Launch:
    runs = Runs(site.output, site.device)
    return Launch(
        kernel="concat",
        operator=site.operator.name,
        defines={**source.defines("IN"), **site.output.defines("OUT"), "RUN": runs.length, "FIRST_CHANNEL": first},
        arguments=(source, site.output),
        items=runs.count,
        planes=source.blocks,
        group=runs.group,
    )


CONCAT = Variant("concat", _launches, can_compute=same_blocks)
