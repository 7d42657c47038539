"""Softmax over the channels of each pixel."""

from edged.engine.launch import Launch
from edged.engine.variants.variant import WORK_GROUP, Parameters, Site, Variant
from edged.model.graph import Softmax


def _launches(site: Site[Softmax], parameters: Parameters) -> tuple[Launch, ...]:
    return (
        Launch(
            kernel="softmax",
            operator=site.operator.name,
            defines=site.tensor_defines(),
            arguments=(*site.inputs, site.output),
            items=site.pixels,
            group=min(WORK_GROUP, site.pixels),
        ),
    )


SOFTMAX = Variant("softmax", _launches)
