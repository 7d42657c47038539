"""From a job's payloads to images, and from the outputs to the message that answers the job."""

from collections.abc import Sequence

import numpy as np

from edged.energy.meter import Spent
from edged.messages import Job, Scores
from edged.worker.runtime import Images, Outputs, Result
from edged.worker.scores import softmax, top_classes


def images_of(job: Job, payloads: Sequence[bytes], width: int, height: int, batch: int) -> Images:
    """The job's frames, uint8 [n, height, width, 3]. Raises ValueError where they do not fit the model."""
    if not len(payloads) == job.frames <= batch:
        raise ValueError(
            f"{job.frames} frames with {len(payloads)} payloads; expected 1 to {batch}, a payload each"
        )
    wanted = height * width * 3
    if wrong := [len(payload) for payload in payloads if len(payload) != wanted]:
        raise ValueError(f"a frame of {wrong[0]} bytes; expected {width} × {height} × 3 = {wanted}")
    pixels = payloads[0] if len(payloads) == 1 else b"".join(payloads)
    return np.frombuffer(pixels, np.uint8).reshape(job.frames, height, width, 3)


def not_finite(outputs: Outputs) -> str:
    """What is wrong with outputs that hold NaN or infinity; empty where they hold none."""
    finite = np.isfinite(outputs)
    if finite.all():
        return ""
    return f"{np.count_nonzero(~finite)} of the network's {finite.size} outputs are NaN or infinite"


def scores_of(job: Job, result: Result, spent: Spent, *, probabilities: bool) -> Scores:
    """The answer to a job. `probabilities`: the network's outputs need no softmax."""
    shares = result.outputs if probabilities else softmax(result.outputs)
    return Scores(
        job=job.job,
        frames=tuple(top_classes(frame, job.top) for frame in shares),
        upload_s=result.upload_s,
        forward_s=result.forward_s,
        download_s=result.download_s,
        joules=spent.joules,
        rails=spent.rails,
    )
