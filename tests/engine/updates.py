"""Steps of an optimizer on a device, beside those of the reference."""

import numpy as np
from numpy.typing import NDArray

from edged.engine.launch import Argument, Resident
from edged.train.optimizer import Optimizer, moments_of, update_launches, update_scalars
from edged.train.reference.step import no_moments, step
from tests.engine.bench import Bench
from tests.engine.lab import Lab, assert_close, random

RATES = (0.1, 0.05, 0.03)


def assert_steps(lab: Lab, how: Optimizer, count: int = 5001) -> None:
    """A few steps with one gradient and a rate that changes.

    count: of weights, of which three fifths decay; by default more than one work-item of a CPU takes.
    """
    decayed = count * 3 // 5
    weights, gradients = random(count), random(count)
    parameters, slopes = Resident("parameters", 4 * count), Resident("gradients", 4 * count)
    launches = update_launches(how, decayed, count, lab.device)
    memory = Resident("moments", 4 * count * moments_of(how))
    given: dict[Argument, NDArray[np.float32]] = {
        parameters: weights,
        slopes: gradients,
        memory: np.zeros(memory.nbytes // 4, np.float32),
    }
    bench = Bench(lab, launches, given)

    for number, rate in enumerate(RATES, 1):
        bench.run(**update_scalars(how, number, rate))

    for part, decays in ((slice(decayed), True), (slice(decayed, None), False)):
        expected = weights[part].astype(np.float64)
        moments = no_moments(expected)
        for number, rate in enumerate(RATES, 1):
            expected, moments = step(how, expected, gradients[part], moments, rate, number, decays=decays)
        assert_close(bench.floats(parameters)[part], expected)
