"""Answers of a runtime that is opened for one job."""

from edged.config import WorkerConfig
from edged.model.model_part import Features, Images, ModelPart
from edged.model.package import Model
from edged.runtime.base import Outputs
from edged.runtime.select import open_runtime


def answer(model: Model, part: ModelPart, device: str, frames: Images | Features) -> Outputs:
    """Run two frames through a part of a model; the outputs are [2, …]."""
    runtime = open_runtime(part, WorkerConfig(device=device, batch=2))
    outputs = runtime.submit(frames.reshape(2, *part.frame_shape)).wait().outputs
    runtime.close()
    return outputs
