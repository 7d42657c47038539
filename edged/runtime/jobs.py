"""Compute a stream of prepared pictures, job after job.

The next job is prepared while the device computes.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from edged.model.model_part import Images
from edged.runtime.base import ModelRuntime, Outputs, Pending

Floats = NDArray[np.float32]
Prepared = Images | str  # uint8 [height, width, 3] of the network's size, or why there is none
Computed = Floats | str  # the network's own outputs, float32 [classes], or why there are none


@dataclass(frozen=True, eq=False)
class SubmittedJob:
    """Pictures that a device computes. `pending`: None if none of them is prepared."""

    pictures: Sequence[Prepared]
    pending: Pending | None

    def wait(self) -> list[Computed]:
        """Return the outputs of each picture, which stay when the next job comes. Raises DeviceError."""
        outputs = iter(np.array(self.pending.wait().outputs, np.float32) if self.pending else ())
        return [each if isinstance(each, str) else next(outputs).reshape(-1) for each in self.pictures]


def compute(
    runtime: ModelRuntime, pictures: Iterable[Prepared], batch: int, ahead: int = 1
) -> Iterator[list[Computed]]:
    """Yield the outputs of each job of `batch` pictures, in order. Raises DeviceError.

    `ahead`: jobs submitted before a result is waited for; 0: no picture is read while the device computes.
    The boundaries of jobs do not depend on which pictures could be prepared, so that the same pictures always give
    the same outputs, to the bit.
    """
    remaining, submitted = iter(pictures), deque[SubmittedJob]()
    while group := list(islice(remaining, batch)):
        frames = [each for each in group if not isinstance(each, str)]
        submitted.append(SubmittedJob(group, runtime.submit(np.stack(frames)) if frames else None))
        if len(submitted) > ahead:
            yield submitted.popleft().wait()
    while submitted:
        yield submitted.popleft().wait()


def not_finite(outputs: Outputs) -> str:
    """Describe outputs with NaN or infinity; empty if all are finite."""
    finite = np.isfinite(outputs)
    if finite.all():
        return ""
    return f"{np.count_nonzero(~finite)} of the network's {finite.size} outputs are NaN or infinite"
