"""Convolutions by size of the window: direct, implicit matrix product, Winograd, FFT, on one thread.

`POCL_MAX_PTHREAD_COUNT=1 OPENBLAS_NUM_THREADS=1 python -m bench.windows`. Kernels are timed by the device's
clock, the FFT by the host's. Each is compared with the reference first. The fastest of all rounds counts: other
programs can only slow a run down.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from edged.engine.agreement import ReferenceProblem
from edged.engine.device import find_device
from edged.engine.layout import Tensor
from edged.engine.selection import Choice
from edged.engine.tuning.contest import Trial
from edged.engine.tuning.rig import Rig
from edged.engine.tuning.task import problem_of
from edged.engine.variants.conv_general import CONV_GENERAL
from edged.engine.variants.conv_vector import CONV_VECTOR
from edged.engine.variants.conv_winograd import CONV_WINOGRAD
from edged.engine.variants.variant import AnyVariant, Site
from edged.model.graph import Conv, Float32

SHAPES = (  # input channels, output channels, height and width of the image, of the window
    *((64, 64, 28, window) for window in (3, 5, 7, 9, 11)),
    (64, 192, 27, 5),  # AlexNet's second
)
VARIANTS = {"direct": CONV_VECTOR, "implicit product": CONV_GENERAL, "Winograd": CONV_WINOGRAD}
BETWEEN = 4 << 20  # bytes that pass through the caches before each run
FEW = 6  # parameters of a variant, the best guesses first

Seconds = Callable[[], float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=70, help="runs of each (default: 70)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as programs:
        rig = Rig(find_device("cpu"), Path(programs), BETWEEN)
        for shape in SHAPES:
            problem = _problem(rig, *shape)
            ways = {name: _kernel(rig, problem, variant) for name, variant in VARIANTS.items()}
            ways["FFT"] = _fft(problem)
            milliseconds = {
                name: 1e3 * min(run() for _ in range(options.rounds)) for name, run in ways.items() if run
            }
            print(shape, "  ".join(f"{name} {each:.2f} ms" for name, each in milliseconds.items()), flush=True)


def _problem(rig: Rig, inputs: int, outputs: int, side: int, window: int) -> ReferenceProblem:
    weight = np.random.default_rng(0).standard_normal((outputs, inputs, window, window), np.float32)
    conv = Conv("conv", ("x",), "y", weight, np.zeros(outputs, np.float32), pads=(window // 2,) * 4)
    block = max(4, min(16, rig.device.vector_width))
    x, y = (Tensor(name, 1, channels, side, side, block) for name, channels in (("x", inputs), ("y", outputs)))
    return problem_of(Site(conv, (x,), y, rig.device))


def _kernel(rig: Rig, problem: ReferenceProblem, variant: AnyVariant) -> Seconds | None:
    """Return a run of the variant, the fastest of its first few parameters each time; None where it cannot."""
    if not variant.can_compute(problem.site):
        return None
    trials = [Trial(rig, problem, Choice(variant, each)) for each in variant.parameters(problem.site)[:FEW]]
    assert all(trial.error() <= problem.tolerance for trial in trials)
    return lambda: min(trial.seconds() for trial in trials)


def _fft(problem: ReferenceProblem) -> Seconds:
    """Return a run by NumPy's transforms and a product for each frequency; weights are transformed before."""
    weight, (x,) = problem.site.operator.weight, problem.inputs
    padded = _smooth(x.shape[-1] + weight.shape[-1] - 1)
    frequencies = np.fft.rfft2(weight, (padded, padded)).conj().astype(np.complex64)
    by_frequency = np.ascontiguousarray(frequencies.transpose(2, 3, 0, 1))

    def compute() -> Float32:
        before = weight.shape[-1] // 2
        after = padded - x.shape[-1] - before
        seen = np.fft.rfft2(np.pad(x[0], ((0, 0), (before, after), (before, after))))
        sums = by_frequency @ seen.transpose(1, 2, 0)[..., np.newaxis]
        y = np.fft.irfft2(sums[..., 0].transpose(2, 0, 1), (padded, padded))
        return np.asarray(y[np.newaxis, :, : x.shape[-1], : x.shape[-1]], np.float32)

    def run() -> float:
        start = time.perf_counter()
        compute()
        return time.perf_counter() - start

    assert problem.error(compute()) <= problem.tolerance
    return run


def _smooth(size: int) -> int:
    """Return the smallest number from `size` on without factors above 5: those are transformed fastest."""
    rest = size
    for factor in (2, 3, 5):
        while rest % factor == 0:
            rest //= factor
    return size if rest == 1 else _smooth(size + 1)


if __name__ == "__main__":
    main()
