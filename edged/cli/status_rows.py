"""Format the state of a node as rows of a terminal, for `edged top` and below the lines of `edged run`."""

import textwrap
import time
from collections.abc import Sequence
from itertools import groupby

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from edged.arithmetic import ceil_div
from edged.client.node_state import CameraSummary, NodeState, worst_first
from edged.messages import Event, Prediction, StageSeconds
from edged.messages.published import found_in_words
from edged.system.plain_text import counted, printable

# name of each state, which must be clear without its colour
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
# the stages that `total` is the sum of, each with its letter in the bar
STAGES = (
    ("preprocess", "p", "prep"),
    ("wait", "w", "wait"),
    ("upload", "u", "up"),
    ("forward", "F", "forward"),
    ("download", "d", "down"),
    ("publish", "P", "pub"),
)

ROWS_EACH = (4, 2, 1)  # rows of a camera: as many as there is room for
EVENTS = 4  # shown
BAD = {"down": "bold white on red", "starting": "cyan"}


def fit(text: str, columns: int, *, right: bool = False) -> str:
    """Return `text` in exactly so many columns; `…` marks text that was cut."""
    text = printable(text)
    if cell_len(text) > columns:
        text = set_cell_size(text, columns - 1).rstrip() + "…" if columns else ""
    blank = " " * (columns - cell_len(text))
    return blank + text if right else text + blank


def duration(seconds: float | None) -> str:
    """Format a duration as `0.04 s`, `12 s`, `3 min`, `2 h` or `5 d`: at most six columns."""
    if seconds is None:
        return "-"
    if seconds < 10:
        return f"{seconds:.2f} s"
    for unit, most, each in (("s", 100, 1), ("min", 100 * 60, 60), ("h", 72 * 3600, 3600)):
        if seconds < most:
            return f"{seconds / each:.0f} {unit}"
    return f"{seconds / 86400:.0f} d"


def milliseconds(seconds: float | None) -> str:
    """Format milliseconds as `4.2` or `120`."""
    if seconds is None:
        return "-"
    return f"{1000 * seconds:.1f}" if seconds < 0.1 else f"{1000 * seconds:.0f}"


def rate(each_second: float) -> str:
    """Format a rate as `3/s` or `0.2/s`; empty for 0."""
    if each_second < 0.05:
        return ""
    return f"{each_second:.1f}/s" if each_second < 10 else f"{each_second:.0f}/s"


def camera_rows(camera: CameraSummary, width: int, most: int) -> list[Text]:
    """Return 1, 2 or 4 rows: figures; the last minute; the last frame; joules, accuracy and drops.

    For a camera that delivers nothing: the reason, as far as there is room.
    """
    word, style = STATES[camera.state]
    start = Text(fit(camera.name, 14) + " ", "bold").append(fit(word, 8), style).append(" ")
    if camera.state in {"down", "starting", "ended"}:
        return _without_frames(camera, start, width, most)
    more = [strip, last_frame, sums][: most - 1]
    return [_figures(camera, start, width), *(Text(fit("  " + row(camera), width), "dim") for row in more)]


def _without_frames(camera: CameraSummary, start: Text, width: int, most: int) -> list[Text]:
    why = camera.why or ("waits for its first frame" if camera.state == "starting" else "")
    indent = " " * start.cell_len
    wrapped = textwrap.wrap(printable(why), max(10, width - start.cell_len), max_lines=most, placeholder="…")
    first, *more = wrapped or [""]
    return [start.append(first), *(Text(indent + line) for line in more)]


def _figures(camera: CameraSummary, start: Text, width: int) -> Text:
    """Format speed, label, age, latency and drops."""
    start.append(f"{camera.fps:5.1f} ")
    start.append(fit(_answer(camera.last), 17) + " ", "bold")
    start.append(fit(duration(camera.age_s), 6, right=True), "bold yellow" if camera.is_late else "")
    start.append(f" {milliseconds(camera.median_s):>6} {milliseconds(camera.p99_s):>6} ")
    start.append(fit(dropped(camera), 10, right=True))
    start.truncate(width)
    return start


def _answer(last: Prediction | None) -> str:
    """Format the best label of a prediction, or how many boxes of each label a detector found."""
    if last is not None and last.boxes is not None:
        return found_in_words(last.boxes) or "-"
    best = last.top[0] if last and last.top else None
    return f"{fit(best.label, 12).rstrip()} {best.score:.0%}" if best else "-"


def dropped(camera: CameraSummary) -> str:
    """Format drops as `120 3/s`."""
    return f"{sum(camera.dropped.values())} {rate(sum(camera.dropping.values()))}".rstrip()


def strip(camera: CameraSummary) -> str:
    """Format the labels of the last minute, one column per second: the name where it starts, `─` while it lasts.

    `·`: no label in that second.
    """
    return f"minute  {labels(camera.strip[-STRIP_COLUMNS:])}"


def labels(seconds: Sequence[str | None]) -> str:
    """Return one column for each label, however long its name is."""
    drawn = []
    for label, run in groupby(seconds):
        columns = len(list(run))
        name = "·" * columns if label is None else printable(label)
        drawn.append(set_cell_size(name + "─" * columns, columns))
    return "".join(drawn)


def last_frame(camera: CameraSummary) -> str:
    """Format the last frame: a bar with a letter for each stage, and milliseconds."""
    if camera.last is None:
        return "frame   -"
    seconds = camera.last.seconds
    parts = [f"{name} {milliseconds(getattr(seconds, stage))}" for stage, _, name in STAGES]
    return f"frame   [{bar(seconds)}] {' '.join(parts)}"


def bar(seconds: StageSeconds) -> str:
    """Draw the stages of a frame, each as long as its share of the total."""
    ends, total = [0.0], max(seconds.total, 1e-9)
    for stage, _, _ in STAGES:
        ends.append(ends[-1] + getattr(seconds, stage) / total)
    columns = [round(BAR_COLUMNS * min(1.0, end)) for end in ends]
    drawn = "".join(letter * (columns[i + 1] - columns[i]) for i, (_, letter, _) in enumerate(STAGES))
    return f"{drawn:{BAR_COLUMNS}}"


def sums(camera: CameraSummary) -> str:
    """Format joules, accuracy, and the reasons of drops."""
    method = camera.last.energy.method if camera.last else "none"
    joules = "no joules" if camera.joules is None else f"{camera.joules:.3g} J a frame ({method})"
    right = "" if camera.right is None else f"  {camera.right:.1%} right"
    reasons = ", ".join(f"{reason} {frames}" for reason, frames in sorted(camera.dropped.items()) if frames)
    return f"sums    {joules}{right}  dropped: {reasons or 'none'}"


class ScreenPages:
    """The page of cameras that is shown, if not all of them fit."""

    def __init__(self) -> None:
        self._page = 0

    def turn(self, pages: int) -> None:
        """Turn to the next page; the first follows the last."""
        self._page += pages

    def of(self, cameras: list[CameraSummary], room: int) -> tuple[int, list[CameraSummary]]:
        """Return the index of the first camera shown, and the cameras on this page."""
        room = max(1, room)
        pages = max(1, ceil_div(len(cameras), room))
        self._page %= pages
        first = self._page * room
        return first, cameras[first : first + room]


def picture(known: NodeState, address: str, warning: str, width: int, height: int, pages: ScreenPages) -> Text:
    """Return exactly so many rows. The last column stays empty: terminals disagree on what follows it."""
    width -= 1
    alarm = _alarm(known, address, warning, width)
    head = [_title(known, width), _workers(known, width), _power(known, width), *alarm]
    events = [_event(event, width) for event in known.events[-EVENTS:]] if height >= 16 else []
    room = max(1, height - len(head) - 1 - len(events) - 1)
    cameras = worst_first(known.cameras)
    rows_each = next((rows for rows in ROWS_EACH if rows * len(cameras) <= room), 1)
    first, shown = pages.of(cameras, room // rows_each)
    body = [row for camera in shown for row in camera_rows(camera, width, rows_each)]
    blank = [Text("")] * (room - len(body))
    foot = Text(fit(_foot(first, len(shown), len(cameras)), width), "dim")
    rows = [*head, Text(fit(HEAD, width), "reverse"), *body, *blank, *events, foot]
    return Text("\n", no_wrap=True, overflow="crop").join(rows[:height])


def status_rows(known: NodeState, width: int, height: int) -> Text:
    """Return the rows of `edged run` below its lines: an empty one first, at most two thirds of the terminal."""
    width -= 1
    power = [_power(known, width)] if known.watts else []
    head = [Text(""), _title(known, width), _workers(known, width), *power, Text(fit(HEAD, width), "reverse")]
    cameras = worst_first(known.cameras)
    room = max(1, 2 * height // 3 - len(head) - 1)
    with_bar = 2 if 2 * len(cameras) <= min(room, 6) else 1
    shown = cameras[: room // with_bar]
    body = [row for camera in shown for row in _with_bar(camera, width)[:with_bar]]
    foot = Text(fit(_sums(known, len(cameras) - len(shown)), width), "dim")
    return Text("\n", no_wrap=True, overflow="crop").join([*head, *body, foot][: max(1, height - 1)])


def _with_bar(camera: CameraSummary, width: int) -> list[Text]:
    first, *more = camera_rows(camera, width, 1)
    return [first, *more, Text(fit("  " + last_frame(camera), width), "dim")]


def _sums(known: NodeState, more: int) -> str:
    """Format how many predictions there were, and how many cameras are not shown."""
    captured = sum(camera.captured for camera in known.cameras)
    predicted = sum(camera.predicted for camera in known.cameras)
    others = f"{more} more {'camera' if more == 1 else 'cameras'} (see edged top)   " if more else ""
    shares = [camera.right for camera in known.cameras if camera.right is not None]
    right = f"   {shares[0]:.1%} right" if len(shares) == 1 else ""
    return f"{others}{predicted:,} predictions of {captured:,} frames{right}   Ctrl-C: end"


def _title(known: NodeState, width: int) -> Text:
    at = "" if known.at is None else time.strftime("%H:%M:%S", time.localtime(known.at))
    up = sum(camera.state == "up" for camera in known.cameras)
    fps = sum(camera.fps for camera in known.cameras)
    figures = f"{fps:.1f} fps  {up} of {len(known.cameras)} cameras up" if known.cameras else ""
    boot = f"boot {known.boot[:8]}" if known.boot else ""
    return Text(fit("  ".join(filter(None, ("edged", known.node, at, figures, boot))), width), "bold")


def _workers(known: NodeState, width: int) -> Text:
    text = Text("workers ")
    for name, worker in sorted(known.workers.items(), key=lambda each: each[1].state not in BAD):
        state = worker.state.upper() if worker.state == "down" else worker.state
        restarts = f" (lost {counted(worker.restarts, 'time')})" if worker.restarts else ""
        device = fit(worker.device, 24).rstrip()
        shown = f"{fit(name, 16).rstrip()} {state}{restarts}: {device}"
        text.append(" ").append(shown, BAD.get(worker.state, "")).append(" ")
    text.truncate(width, overflow="ellipsis")
    return text


def _power(known: NodeState, width: int) -> Text:
    watts = "  ".join(f"{rail} {watts:.2f} W" for rail, watts in known.watts.items())
    return Text(fit(f"power    {watts}  ({known.method})" if watts else "power    not measured", width))


def _alarm(known: NodeState, address: str, warning: str, width: int) -> list[Text]:
    """Return one row, or two for a long text."""
    if not known.stale:
        return [Text("")]
    since = "" if known.away_s is None else f" for {duration(known.away_s)}; what is below is old"
    text = printable(warning or f"nothing from {address}{since}: is `edged run` up?")
    rows = textwrap.wrap(text, width, max_lines=2, placeholder="…", break_on_hyphens=False)
    return [Text(fit(row, width), "bold white on red") for row in rows]


def _event(event: Event, width: int) -> Text:
    at = time.strftime("%H:%M:%S", time.localtime(event.at))
    return Text(fit(f"{at}  {event.message}", width))


def _foot(first: int, shown: int, cameras: int) -> str:
    if shown == cameras:
        return "q: quit"
    return f"q: quit   space: more cameras ({first + 1} to {first + shown} of {cameras}, worst first)"
