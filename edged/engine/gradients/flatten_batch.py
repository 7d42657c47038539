"""Convert images to vectors of features and back, where the layout of a training step changes."""

from edged.engine.gradients.slope import Slope, gradient_run
from edged.engine.launch import Launch
from edged.engine.variants.pixelwise import Runs
from edged.engine.variants.variant import Site
from edged.model.graph import Flatten


def flatten_batch(site: Site[Flatten]) -> tuple[Launch, ...]:
    """Convert in the forward pass: the vectors of all frames are the pixels of one image."""
    runs = Runs(site.output, site.device)
    return (
        Launch(
            kernel="flatten_batch",
            operator=site.operator.name,
            defines={**site.tensor_defines(), "RUN": runs.length},
            arguments=(*site.inputs, site.output),
            items=runs.count,
            planes=site.output.blocks,
            group=runs.group,
        ),
    )


def flatten_batch_gradient(slope: Slope[Flatten]) -> tuple[Launch, ...]:
    """Move each value back to its place."""
    return (gradient_run("flatten_batch_gradient", slope, slope.wanted, (), {}),) if slope.wanted else ()
