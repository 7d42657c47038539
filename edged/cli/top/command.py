"""`edged top`: show the state of a node's cameras and workers, on a screen, as `key=value` lines or as JSON."""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice

import msgspec
import zmq

from edged.cli.options import add_every, add_example, add_hub_options, add_json, positive
from edged.client.board import Board
from edged.client.node_state import CameraSummary, NodeState
from edged.client.subscription import Subscription
from edged.messages.published import found_in_words
from edged.system.plain_text import printable, printable_json
from edged.system.terminal import interrupt_on_sigterm, is_terminal, note
from edged.transport.client_socket import curve_of

POLL_MS = 100
SCREEN_EVERY_S = 0.5


def lines(known: NodeState) -> Iterator[str]:
    """Format one line for each camera. Unknown values are empty; free text is quoted."""
    at = "" if known.at is None else time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(known.at))
    for camera in known.cameras:
        fields = {"at": at, "node": printable(known.node or ""), **_fields(camera)}
        yield " ".join(f"{key}={value}" for key, value in fields.items())


def _fields(camera: CameraSummary) -> dict[str, str]:
    best = camera.last.top[0] if camera.last and camera.last.top else None
    found = found_in_words((camera.last and camera.last.boxes) or ())
    return {
        "camera": printable(camera.name),
        "state": camera.state,
        "fps": f"{camera.fps:.1f}",
        "label": _quoted(best.label) if best else "",
        "score": _number(best.score if best else None, 4),
        "age_s": _number(camera.age_s, 3),
        "p50_s": _number(camera.median_s, 4),
        "p99_s": _number(camera.p99_s, 4),
        "captured": str(camera.captured),
        "dropped": str(sum(camera.dropped.values())),
        "joules": _number(camera.joules, 4),
        "right": _number(camera.right, 4),
        "found": _quoted(found) if found else "",
        "why": _quoted(camera.why) if camera.why else "",
    }


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _quoted(text: str) -> str:
    return json.dumps(printable(text), ensure_ascii=False)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add where to listen and how to show it."""
    add_hub_options(parser)
    parser.add_argument("--plain", action="store_true", help="print a line for each camera, as without a terminal")
    add_json(parser, "one JSON object a line: the state of the whole node")
    add_every(parser, "time between two updates (default: 2s)", default=2.0)
    parser.add_argument("--count", type=positive, metavar="N", help="exit after N updates")
    add_example(parser, "edged top", "edged top --json --count 1")


def run(arguments: argparse.Namespace) -> int:
    """Show the state until `q`, Ctrl-C or SIGTERM."""
    curve = curve_of(arguments.key, arguments.server_key)
    on_screen = not (arguments.plain or arguments.json or arguments.count) and is_terminal()
    interrupt_on_sigterm()  # the terminal must be restored
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    try:
        subscription = Subscription(context, arguments.address, curve=curve)
        try:
            _show(subscription, arguments) if not on_screen else _show_on_screen(subscription, arguments.address)
        except KeyboardInterrupt:
            pass
        finally:
            subscription.close()
    finally:
        context.term()
    return 0


def watch(
    subscription: Subscription, every_s: float, hurry: Callable[[], bool] = lambda: False
) -> Iterator[NodeState]:
    """Yield the state of the node every `every_s` seconds, and at once when `hurry()`. Never ends."""
    board, next_s = Board(), time.monotonic() + every_s
    while True:
        heard = subscription.receive(max(0, min(POLL_MS, round(1000 * (next_s - time.monotonic())))))
        now_s = time.monotonic()
        if heard:
            board.add(heard, now_s)
        if now_s >= next_s or hurry():
            yield board.node_state(now_s)
            next_s = max(next_s + every_s, now_s) if now_s >= next_s else next_s


def _show_on_screen(subscription: Subscription, address: str) -> None:
    from edged.cli.top.screen import Screen

    with Screen(address) as screen:
        for known in watch(subscription, SCREEN_EVERY_S, screen.wants_to_be_drawn):
            if not screen.show(known):
                return


def _show(subscription: Subscription, arguments: argparse.Namespace) -> None:
    announced = False
    for known in islice(watch(subscription, arguments.every), arguments.count):
        if known.stale and not announced:
            note(f"waiting: nothing received from {arguments.address}; is `edged run` running?")
        announced = known.stale
        if arguments.json:
            print(printable_json(msgspec.json.encode(known).decode()), flush=True)
        else:
            sys.stdout.writelines(line + "\n" for line in lines(known))
            sys.stdout.flush()
