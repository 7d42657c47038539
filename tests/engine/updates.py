"""Steps of an optimizer on a device, beside those of the reference."""

import numpy as np
from numpy.typing import NDArray

from edged.engine.launch import Argument, Resident
from edged.train.optimizer import Optimizer
from edged.train.reference.step import no_moments, step
from edged.train.update import moments_of, update_launches, update_scalars
from tests.engine.bench import Bench
from tests.engine.lab import Lab, assert_close, random

COUNT, DECAYED, STEPS = 5000, 3001, 3  # more than one work-item's share, and no multiple of anything


def assert_steps(lab: Lab, how: Optimizer) -> None:
    """A few steps with one gradient and a rate that changes."""
    weights, gradients = random(COUNT), random(COUNT)
    parameters, slopes = Resident("parameters", 4 * COUNT), Resident("gradients", 4 * COUNT)
    launches = update_launches(how, DECAYED, COUNT, lab.device)
    memory = Resident("moments", 4 * COUNT * moments_of(how))
    given: dict[Argument, NDArray[np.float32]] = {
        parameters: weights,
        slopes: gradients,
        memory: np.zeros(memory.nbytes // 4, np.float32),
    }
    bench = Bench(lab, launches, given)
    rates = [0.1 / count for count in range(1, STEPS + 1)]

    for count, rate in enumerate(rates, 1):
        bench.run(**update_scalars(how, count, rate))

    for part, decays in ((slice(DECAYED), True), (slice(DECAYED, None), False)):
        expected = weights[part].astype(np.float64)
        moments = no_moments(expected)
        for count, rate in enumerate(rates, 1):
            expected, moments = step(how, expected, gradients[part], moments, rate, count, decays=decays)
        assert_close(bench.floats(parameters)[part], expected)
