"""Compare the answers of a runtime with the reference."""

import numpy as np

from edged.engine.runtime import Runtime
from edged.model import reference
from edged.model.graph import Graph
from edged.model.package import Input
from tests.engine.lab import assert_close
from tests.engine.networks import random_images

NETWORK_CLOSE = 1e-4  # of the range of the scores


def assert_equals_reference(runtime: Runtime, graph: Graph, wanted: Input, frames: int = 1) -> None:
    images = random_images(wanted, frames)
    expected = reference.run(graph, reference.prepare(images, wanted), np.float64)
    assert_close(runtime.submit(images).wait().outputs, expected, NETWORK_CLOSE)
