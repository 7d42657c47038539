"""How time and memory grow with the work: `python -m bench.growth --help`.

ResNets of every depth at several image sizes and batches. Points are kept in a file as they are measured, so that
a run may be narrowed, ended and gone on with; the picture and the fit are of all points in it.
"""

import argparse
import itertools
import json
import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from edged.drawing.chart import COLORS, Chart, LogAxis
from edged.engine.device import Device, find_device
from edged.engine.launch_cost import LaunchCost, launch_costs
from edged.engine.memory import lifetimes
from edged.engine.peaks import Peaks, measure
from edged.engine.planner import Plan, make_plan
from edged.engine.profile import profile
from edged.engine.runtime import Runtime
from edged.engine.tuning_records import chooser_for
from edged.model.model_part import ModelPart
from edged.model.package import Input
from edged.model.passes import simplify
from edged.model.resnet import BLOCKS, random_resnet

FAR = 1.25  # a point this many times off the fit is told with its reason


@dataclass(frozen=True)
class Point:
    """One network at one size and batch. `macs` of the whole batch; `bound_s` as the roofline has it.

    `memory_share`: of that bound, what memory sets and not arithmetic. `live_bytes`: what must be there at once.
    """

    depth: int
    size: int
    batch: int
    macs: int
    seconds: float
    bound_s: float
    memory_share: float
    arena_bytes: int
    live_bytes: int

    @property
    def name(self) -> str:
        return f"resnet{self.depth} {self.size}×{self.size} batch {self.batch}"


@dataclass(frozen=True)
class Fit:
    """seconds = factor · MACs ^ slope, by least squares of the logarithms; `r2` is 1 if all points are on it."""

    factor: float
    slope: float
    r2: float

    def seconds(self, macs: float) -> float:
        return self.factor * math.pow(macs, self.slope)


def main() -> None:
    """Measure the points that are not there yet, print a line for each, the fit, and what lies off it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--depths", type=int, nargs="+", default=list(BLOCKS), choices=BLOCKS)
    parser.add_argument("--sizes", type=int, nargs="+", default=[64, 128, 224, 320])
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--runs", type=int, default=5, help="jobs to time a point, slow ones fewer")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--points", type=Path, default=Path("growth.jsonl"), help="a JSON object a line and point")
    parser.add_argument("--picture", type=Path, default=Path("growth.svg"))
    arguments = parser.parse_args()

    points = read_points(arguments.points)
    known = {(point.depth, point.size, point.batch) for point in points}
    wanted = itertools.product(arguments.sizes, arguments.depths, arguments.batches)
    missing = [place for size, depth, batch in wanted if (place := (depth, size, batch)) not in known]
    device = find_device(arguments.device)
    points += _measured(missing, device, arguments.points, arguments.runs)
    fitted = fit(points)
    print("\n".join(verdict(points, fitted)))
    arguments.picture.write_text(picture(points, fitted, device.name), "utf-8")


def read_points(path: Path) -> list[Point]:
    """What an earlier run has left."""
    return [Point(**json.loads(line)) for line in path.read_text().splitlines()] if path.exists() else []


def _measured(places: Sequence[tuple[int, int, int]], device: Device, file: Path, runs: int) -> Iterator[Point]:
    peaks = measure(device) if places else Peaks(1, 1)
    for depth, size, batch in places:
        point = measure_point(depth, size, batch, device, peaks, runs)
        with file.open("a") as points:
            points.write(json.dumps(asdict(point)) + "\n")
        print(
            f"{point.name:28} {point.macs / 1e9:8.2f} GMAC {point.seconds * 1e3:9.2f} ms "
            f"{point.macs / point.seconds / 1e9:7.1f} GMAC/s, roofline's bound {point.bound_s * 1e3:8.2f} ms, "
            f"{point.memory_share:4.0%} of it memory; arena {point.arena_bytes / 2**20:7.2f} MiB, "
            f"{point.arena_bytes / point.live_bytes:.3f} of what must live",
            flush=True,
        )
        yield point


def measure_point(depth: int, size: int, batch: int, device: Device, peaks: Peaks, runs: int) -> Point:
    """Plan it, open it, time it."""
    network = simplify(random_resnet(depth, size, size))
    wanted = Input(size, size, "rgb", 1 / 255, (0.5, 0.5, 0.5), (0.25, 0.25, 0.25))
    chooser = chooser_for(device)
    plan = make_plan(ModelPart(network, wanted), device, batch, chooser=chooser)
    costs = launch_costs(network, plan)
    runtime = Runtime(ModelPart(network, wanted), device, batch=batch, chooser=chooser)
    images = np.random.default_rng(0).integers(0, 256, (batch, size, size, 3), np.uint8)
    seconds = profile(runtime, costs, images, runs).wall_s
    runtime.close()
    bounds = [peaks.least_s(2 * cost.macs, cost.nbytes) for cost in costs]
    return Point(
        depth=depth,
        size=size,
        batch=batch,
        macs=sum(cost.macs for cost in costs),
        seconds=seconds,
        bound_s=sum(bounds),
        memory_share=_memory_s(costs, peaks) / sum(bounds),
        arena_bytes=plan.arena.size,
        live_bytes=live_bytes(plan),
    )


def _memory_s(costs: Sequence[LaunchCost], peaks: Peaks) -> float:
    """The bounds of those launches that memory limits."""
    bounds = ((cost.nbytes / peaks.bytes_per_s, 2 * cost.macs / peaks.flops_per_s) for cost in costs)
    return sum(memory for memory, arithmetic in bounds if memory > arithmetic)


def live_bytes(plan: Plan) -> int:
    """The most that any launch needs: every tensor that has been written and will still be read, or is being so.

    No arrangement of the tensors in memory can take less.
    """
    spans = lifetimes(plan.launches)
    return max(
        sum(tensor.nbytes for tensor, (first, last) in spans.items() if first <= index <= last)
        for index in range(len(plan.launches))
    )


def fit(points: Sequence[Point]) -> Fit:
    """A straight line through the logarithms."""
    x, y = np.log([point.macs for point in points]), np.log([point.seconds for point in points])
    slope, offset = np.polyfit(x, y, 1)
    left = np.square(y - (slope * x + offset)).sum()
    return Fit(math.exp(offset), float(slope), 1 - float(left / np.square(y - y.mean()).sum()))


def verdict(points: Sequence[Point], fitted: Fit) -> Iterator[str]:
    """The fit, the points off it with what may explain them, and the memory."""
    yield f"{len(points)} points: time grows with MACs ^ {fitted.slope:.3f}, R² {fitted.r2:.4f} (of logarithms)"
    speeds = [point.macs / point.seconds / 1e9 for point in points]
    yield f"GMAC/s: {min(speeds):.1f} to {max(speeds):.1f}, median {statistics.median(speeds):.1f}"
    for point in sorted(points, key=lambda point: -point.seconds / fitted.seconds(point.macs)):
        off = point.seconds / fitted.seconds(point.macs)
        if not 1 / FAR < off < FAR:
            yield (
                f"off the line: {point.name} takes {off:.2f} of what the fit says; its roofline's bound is "
                f"{point.bound_s / point.seconds:.0%} of its time, and {point.memory_share:.0%} of that is memory"
            )
    worst = max(points, key=lambda point: point.arena_bytes / point.live_bytes)
    yield f"memory: at most {worst.arena_bytes / worst.live_bytes:.3f} of what must live at once ({worst.name})"


def picture(points: Sequence[Point], fitted: Fit, device: str) -> str:
    """SVG: a dot a point, coloured by depth, and the fit."""
    macs, seconds = [point.macs / 1e9 for point in points], [point.seconds * 1e3 for point in points]
    chart = Chart(
        f"Time of a job on {device}",
        f"seconds ∝ MACs ^ {fitted.slope:.3f}, R² {fitted.r2:.4f}; {len(points)} networks",
        LogAxis("GMAC of a job", min(macs) / 1.5, max(macs) * 1.5),
        LogAxis("ms", min(seconds) / 1.5, max(seconds) * 1.5),
    )
    chart.line([(x, fitted.seconds(x * 1e9) * 1e3) for x in (min(macs), max(macs))], dashed=True)
    colors = dict(zip(BLOCKS, COLORS, strict=False))
    by_distance = sorted(points, key=lambda point: -abs(math.log(point.seconds / fitted.seconds(point.macs))))
    for point in points:
        chart.dot(_place(point), colors[point.depth], f"{point.name}: {point.seconds * 1e3:.2f} ms")
    for point in by_distance[:6]:
        chart.label(_place(point), point.name)
    chart.legend(
        {f"resnet{depth}": color for depth, color in colors.items()}, "Named: the six farthest off the fit."
    )
    return chart.svg()


def _place(point: Point) -> tuple[float, float]:
    return point.macs / 1e9, point.seconds * 1e3


if __name__ == "__main__":
    main()
