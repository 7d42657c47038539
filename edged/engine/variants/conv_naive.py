"""One work-item computes one output element: the simplest kernel, for comparison."""

from edged.engine.launch import Launch, Weights
from edged.engine.variants.convolution import convolution_defines
from edged.engine.variants.variant import WORK_GROUP, Parameters, Site, Variant
from edged.model.graph import Conv


def _launches(site: Site[Conv], parameters: Parameters) -> tuple[Launch, ...]:
    conv, (source, *residual), target = site.operator, site.inputs, site.output
    return (
        Launch(
            kernel="conv_naive",
            operator=conv.name,
            defines={**convolution_defines(site), **parameters},
            arguments=(
                source,
                Weights(lambda: conv.weight, site.half_weights),
                Weights(lambda: conv.bias),
                target,
                *residual,
            ),
            items=site.pixels,
            planes=target.blocks * target.block,
            group=min(WORK_GROUP, site.pixels),
        ),
    )


CONV_NAIVE = Variant("conv_naive", _launches)
