"""The rows of one camera in `edged top`."""

import textwrap
from collections.abc import Sequence
from itertools import groupby

from rich.cells import set_cell_size
from rich.text import Text

from edged.cli.top_text import duration, fit, milliseconds, rate
from edged.client.known import CameraKnown
from edged.messages import StageSeconds
from edged.printable import printable

# what each state is called, in words that do without their colour
STATES = {
    "down": ("DOWN", "bold white on red"),
    "frozen": ("FROZEN", "bold black on yellow"),
    "stale": ("UNKNOWN", "bold yellow"),
    "starting": ("starting", "cyan"),
    "up": ("up", "green"),
    "ended": ("ended", "dim"),
}
HEAD = f"{'CAMERA':14} {'STATE':8} {'FPS':>5} {'LABEL':17} {'AGE':>6} {'P50 ms':>6} {'P99 ms':>6} {'DROPPED':>10}"
STRIP_COLUMNS = 60
BAR_COLUMNS = 12
# the stages that `total` is the sum of, with the letter that each has in the bar
STAGES = (
    ("preprocess", "p", "prep"),
    ("wait", "w", "wait"),
    ("upload", "u", "up"),
    ("forward", "F", "forward"),
    ("download", "d", "down"),
    ("publish", "P", "pub"),
)


def camera_rows(camera: CameraKnown, width: int, most: int) -> list[Text]:
    """At most 1, 2 or 4 rows: the figures; the last minute; the last frame; joules, truth and drops.

    Of a camera that gives nothing: why, as far as there is room.
    """
    word, style = STATES[camera.state]
    start = Text(fit(camera.name, 14) + " ", "bold").append(fit(word, 8), style).append(" ")
    if camera.state in {"down", "starting", "ended"}:
        return _without_frames(camera, start, width, most)
    more = [strip, last_frame, sums][: most - 1]
    return [_figures(camera, start, width), *(Text(fit("  " + row(camera), width), "dim") for row in more)]


def _without_frames(camera: CameraKnown, start: Text, width: int, most: int) -> list[Text]:
    why = camera.why or ("waits for its first frame" if camera.state == "starting" else "")
    indent = " " * start.cell_len
    wrapped = textwrap.wrap(printable(why), max(10, width - start.cell_len), max_lines=most, placeholder="…")
    first, *more = wrapped or [""]
    return [start.append(first), *(Text(indent + line) for line in more)]


def _figures(camera: CameraKnown, start: Text, width: int) -> Text:
    """How fast and how well."""
    start.append(f"{camera.fps:5.1f} ")
    best = camera.last.top[0] if camera.last and camera.last.top else None
    start.append(fit(f"{fit(best.label, 12).rstrip()} {best.score:.0%}" if best else "-", 17) + " ", "bold")
    start.append(fit(duration(camera.age_s), 6, right=True), "bold yellow" if camera.is_late else "")
    start.append(f" {milliseconds(camera.median_s):>6} {milliseconds(camera.p99_s):>6} ")
    start.append(fit(dropped(camera), 10, right=True))
    start.truncate(width)
    return start


def dropped(camera: CameraKnown) -> str:
    """`120 3/s`."""
    return f"{sum(camera.dropped.values())} {rate(sum(camera.dropping.values()))}".rstrip()


def strip(camera: CameraKnown) -> str:
    """The labels of the last minute, a column a second: each where it began, `─` while it lasted, `·` for none."""
    return f"minute  {labels(camera.strip[-STRIP_COLUMNS:])}"


def labels(seconds: Sequence[str | None]) -> str:
    """One column for each, however long a label is."""
    drawn = []
    for label, run in groupby(seconds):
        columns = len(list(run))
        name = "·" * columns if label is None else printable(label)
        drawn.append(set_cell_size(name + "─" * columns, columns))
    return "".join(drawn)


def last_frame(camera: CameraKnown) -> str:
    """Where its time went: a bar with a letter a stage, and milliseconds."""
    if camera.last is None:
        return "frame   -"
    seconds = camera.last.seconds
    parts = [f"{name} {milliseconds(getattr(seconds, stage))}" for stage, _, name in STAGES]
    return f"frame   [{bar(seconds)}] {' '.join(parts)}"


def bar(seconds: StageSeconds) -> str:
    """The stages of a frame, each as long as its share of the total."""
    ends, total = [0.0], max(seconds.total, 1e-9)
    for stage, _, _ in STAGES:
        ends.append(ends[-1] + getattr(seconds, stage) / total)
    columns = [round(BAR_COLUMNS * min(1.0, end)) for end in ends]
    drawn = "".join(letter * (columns[i + 1] - columns[i]) for i, (_, letter, _) in enumerate(STAGES))
    return f"{drawn:{BAR_COLUMNS}}"


def sums(camera: CameraKnown) -> str:
    """Joules, truth, and why frames were dropped."""
    method = camera.last.energy.method if camera.last else "none"
    joules = "no joules" if camera.joules is None else f"{camera.joules:.3g} J a frame ({method})"
    right = "" if camera.right is None else f"  {camera.right:.1%} right"
    reasons = ", ".join(f"{reason} {frames}" for reason, frames in sorted(camera.dropped.items()) if frames)
    return f"sums    {joules}{right}  dropped: {reasons or 'none'}"
