"""What `edged profile` prints of kernels beside the roofs."""

from typing import NamedTuple

import pytest

from edged.cli.profile.report import Report, Subject
from edged.engine.job import KernelTime
from edged.engine.launch_cost import LaunchCost
from edged.engine.peaks import Peaks
from edged.engine.profile import Profile, Run
from edged.system.machine_state import Account


class Answer(NamedTuple):
    """Of a job whose times are given."""

    upload_s: float
    forward_s: float
    download_s: float
    kernels: tuple[KernelTime, ...]


SUBJECT = Subject(
    "digits", 120, 120, 22_500_000, random_weights=False, device="PoCL", precision="fp32", conv="auto"
)
PEAKS = Peaks(flops_per_s=100e9, bytes_per_s=10e9)
COSTS = (
    LaunchCost("mean", "average_pool", 0, 5_000_000),  # 0.5 ms by the memory
    LaunchCost("copy", "prepare", 0, 20_000_000),  # 2 ms
    LaunchCost("conv", "conv_winograd", 100_000_000, 1_000),  # 2 ms by the arithmetic
)


def report(state: str) -> Report:
    """Each of the three kernels took 1 ms, beside roofs measured in `state`."""
    kernels = tuple(KernelTime(cost.operator, cost.kernel, 0.0, 1e-3) for cost in COSTS)
    run = Run(0.0, 1e-3, 6e-3, Answer(0.0, 4e-3, 0.0, kernels), "two-core")
    return Report(SUBJECT, PEAKS, Profile(1, (run,), COSTS), Account("two-core", {"two-core": 1}), state)


def roofline_column(found: str) -> list[list[str]]:
    return [line.split()[2:-1] for line in found.splitlines()[3:6]]


def test_no_kernel_is_said_to_be_faster_than_what_bounds_it() -> None:
    mean, copy, conv = roofline_column(report("two-core").as_table())

    assert mean[-2:] == ["50%", "memory"]
    assert (copy[-1], conv[-1]) == ("cache", "above")
    assert "3 kernels: 3.000 ms (the roofline's bound: 2.500 ms)" in report("two-core").as_table()


@pytest.mark.parametrize("state", ["disturbed", "changed"])
def test_roofs_that_others_disturbed_are_compared_with_nothing(state: str) -> None:
    table = report(state).as_table()

    assert f"roofs: too low to compare with, since their measurement was {state}" in table
    assert "memory  " not in table
    assert "bound" not in table
    assert not any(word in table for word in ("50%", "cache", "above"))
