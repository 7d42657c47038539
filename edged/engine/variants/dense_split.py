"""Fully connected layer for GPUs: the work-items of a group share the inputs of a block of outputs."""

from edged.engine.launch import Launch
from edged.engine.variants.dense import dense_arguments, dense_defines
from edged.engine.variants.variant import WORK_GROUP, Parameters, Site, Variant
from edged.model.graph import Dense


def _parameters(site: Site[Dense]) -> tuple[Parameters, ...]:
    return tuple({"GROUP": group} for group in (WORK_GROUP, 16, 32, 128, 256))


def _launches(site: Site[Dense], parameters: Parameters) -> tuple[Launch, ...]:
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


DENSE_SPLIT = Variant("dense_split", _launches, _parameters)
