"""What `bench.hub_load` has measured, as a picture: docs/explanation/load.svg."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from bench.hub_load import Load, Window, by_state
from edged.drawing.chart import COLORS, Chart, LogAxis

NOTE = (
    "Link × workers; dashed: all that is offered. A dot's text names the ages, the processor time and the memory."
)


@dataclass(frozen=True)
class Dot:
    """The median figures of a load, in the state of the machine that most of its windows had."""

    load: Load
    state: str
    fps: float
    p50_ms: float
    p99_ms: float
    cpu_us: float
    rss_mb: float

    @property
    def offered(self) -> float:
        """Frames a second."""
        return self.load.cameras * self.load.fps

    @property
    def link(self) -> str:
        """The name of its line."""
        return f"{'CURVE' if self.load.curve else self.load.link} × {self.load.workers}"

    def tooltip(self) -> str:
        """Say what it cost."""
        lines = (
            f"{self.load.cameras} cameras, {self.link} workers, {self.state}: {self.fps:.0f} frames/s",
            f"age {self.p50_ms:.1f} ms (p99 {self.p99_ms:.1f} ms)",
            f"{self.cpu_us:.0f} µs a frame, {self.rss_mb:.0f} MB",
        )
        return "\n".join(lines)


def dot(load: Load, windows: Sequence[Window]) -> Dot | None:
    """Return the dot of a load; None where no state had windows enough."""
    states = by_state(windows)
    if not states:
        return None
    state = max(states, key=lambda each: states[each]["fps"].count)
    names = ("fps", "p50_ms", "p99_ms", "cpu_us", "rss_mb")
    return Dot(load, state, *(states[state][name].median for name in names))


def picture(dots: Sequence[Dot]) -> str:
    """SVG: what was published over what was offered, a line for each transport and number of workers."""
    offered = [each.offered for each in dots]
    low, high = min(offered) / 2, max(offered) * 2
    chart = Chart(
        "What the hub bears",
        "cameras at 30 frames a second, workers that answer at once",
        LogAxis("frames a second, offered", low, high),
        LogAxis("frames a second, predicted and published", low, high),
    )
    chart.line([(low, low), (high, high)], "#999", dashed=True)
    names = dict(zip(dict.fromkeys(each.link for each in dots), COLORS, strict=False))
    for name, of_one in groupby(sorted(dots, key=lambda each: (each.link, each.offered)), lambda each: each.link):
        points = list(of_one)
        chart.line([(each.offered, each.fps) for each in points], names[name])
        for each in points:
            chart.dot((each.offered, each.fps), names[name], each.tooltip())
    chart.legend(names, NOTE)
    return chart.svg()
