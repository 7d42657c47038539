"""edged itself. It takes uint8 images and prepares them on the device, which the peers are spared."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.peers.cases import Case
from edged.cli.bench.timing import settle
from edged.config import ModelConfig, Precision
from edged.engine.launch_cost import packed_bytes
from edged.engine.packed import weights_of
from edged.engine.planner import Plan, make_plan
from edged.engine.runtime import Runtime
from edged.engine.selection import Chooser
from edged.engine.tuning_records import chooser_for
from edged.model.graph import Float32
from edged.model.model_part import ModelPart
from edged.model.package import load_model
from edged.runtime.select import device_for
from edged.runtime.threads import limit_threads


@dataclass(frozen=True, eq=False)
class Ours:
    """A run. `weight_bytes` are those of its plan: padded, transformed, some of them halved."""

    runtime: Runtime
    images: NDArray[np.uint8]
    weight_bytes: int

    def __call__(self) -> Float32:
        return self.runtime.submit(self.images).wait().outputs


def prepare(
    case: Case,
    threads: int,
    device: str,
    precision: Precision = "fp32",
    chooser: Chooser | None = None,
    *,
    quantized: bool = False,
) -> Ours:
    """With the tuning records that there are, unless told otherwise, and threads limited as those of a worker.

    `quantized`: the network with 8 bits.
    """
    limit_threads(threads)
    network = load_model(ModelConfig(path=case.quantized)).graph if quantized else case.network
    found = device_for(network, device, precision)
    decides = chooser or chooser_for(found)
    runtime = Runtime(
        ModelPart(network, case.model_input), found, batch=case.batch, precision=precision, chooser=decides
    )
    if runtime.compose():
        settle(runtime, case.images)
    plan = make_plan(ModelPart(network, case.model_input), found, case.batch, precision, decides)
    return Ours(runtime, case.images, _weight_bytes(plan))


def _weight_bytes(plan: Plan) -> int:
    return sum(packed_bytes(each) for each in weights_of(*plan.launches))
