"""Convert an image to a vector of features."""

from edged.engine.launch import Launch
from edged.engine.variants.variant import WORK_GROUP, Parameters, Site, Variant
from edged.model.graph import Flatten


def _launches(site: Site[Flatten], parameters: Parameters) -> tuple[Launch, ...]:
    features = site.output.blocks * site.output.block
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


FLATTEN = Variant("flatten", _launches)
