"""What `edged top` shows of a node, in as many rows and columns as there are."""

import textwrap
import time

from rich.text import Text

from edged.cli.top_camera import HEAD, camera_rows
from edged.cli.top_text import duration, fit
from edged.client.known import CameraKnown, Known, worst_first
from edged.messages import Event, WorkerState
from edged.printable import printable

ROWS_EACH = (4, 2, 1)  # of a camera: as many as there is room for
EVENTS = 4
BAD = {"down": "bold white on red", "starting": "cyan"}


class Pages:
    """Which cameras are shown, where there are more than fit."""

    def __init__(self) -> None:
        self._page = 0

    def turn(self, pages: int) -> None:
        """Forward; after the last comes the first."""
        self._page += pages

    def of(self, cameras: list[CameraKnown], room: int) -> tuple[int, list[CameraKnown]]:
        """The number of the first one shown, and those that are."""
        room = max(1, room)
        pages = max(1, -(-len(cameras) // room))
        self._page %= pages
        first = self._page * room
        return first, cameras[first : first + room]


def picture(known: Known, address: str, warning: str, width: int, height: int, pages: Pages) -> Text:
    """Exactly so many rows and columns, but for the last column: terminals disagree on what comes after it."""
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


def _title(known: Known, width: int) -> Text:
    at = "" if known.at is None else time.strftime("%H:%M:%S", time.localtime(known.at))
    up = sum(camera.state == "up" for camera in known.cameras)
    fps = sum(camera.fps for camera in known.cameras)
    figures = f"{fps:.1f} fps  {up} of {len(known.cameras)} cameras up" if known.cameras else ""
    boot = f"boot {known.boot[:8]}" if known.boot else ""
    return Text(fit("  ".join(filter(None, ("edged", known.node, at, figures, boot))), width), "bold")


def _workers(known: Known, width: int) -> Text:
    text = Text("workers ")
    for name, worker in sorted(known.workers.items(), key=lambda each: each[1].state not in BAD):
        text.append(" ").append(_worker(name, worker), BAD.get(worker.state, "")).append(" ")
    text.truncate(width, overflow="ellipsis")
    return text


def _worker(name: str, worker: WorkerState) -> str:
    state = worker.state.upper() if worker.state == "down" else worker.state
    restarts = f" (lost {worker.restarts} times)" if worker.restarts else ""
    device = fit(worker.device, 24).rstrip()
    return f"{fit(name, 16).rstrip()} {state}{restarts}: {device}"


def _power(known: Known, width: int) -> Text:
    watts = "  ".join(f"{rail} {watts:.2f} W" for rail, watts in known.watts.items())
    return Text(fit(f"power    {watts}  ({known.method})" if watts else "power    not measured", width))


def _alarm(known: Known, address: str, warning: str, width: int) -> list[Text]:
    """One row, or two where it is long."""
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
