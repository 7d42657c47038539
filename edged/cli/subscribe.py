"""`edged subscribe`: print predictions, one a line."""

import argparse
import math
import time
from collections.abc import Iterator, Sequence
from itertools import chain, islice

import zmq

from edged.cli.options import add_example, add_hub_options, add_json, add_since, address, positive
from edged.client.stream import PredictionStream
from edged.client.subscription import Arrival
from edged.errors import ConfigError
from edged.messages import Box, Label, Prediction
from edged.system.plain_text import printable, printable_json
from edged.system.terminal import note
from edged.transport.client_socket import curve_of

NOTICE_AFTER_S = 2.0
MOST_BOXES = 6  # in a line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add where to listen and what to print."""
    add_hub_options(parser)
    parser.add_argument(
        "--replay",
        type=address,
        metavar="ADDRESS",
        help="publish.replay of the hub's config: fetch missed predictions there",
    )
    add_json(parser, "one JSON object a line, as published")
    parser.add_argument("--count", type=positive, metavar="N", help="exit after N predictions")
    parser.add_argument("--camera", metavar="NAME", help="only this camera")
    add_since(parser, "now")
    add_example(
        parser,
        "edged subscribe --camera door",
        "edged subscribe tcp://192.168.1.10:5570 --json",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print predictions until --count or Ctrl-C."""
    curve = curve_of(arguments.key, arguments.server_key)
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    stream = PredictionStream(
        context, arguments.address, replay=arguments.replay, since_s=arguments.since, curve=curve
    )
    try:
        for arrival in islice(_chosen(stream, arguments), arguments.count):
            print(
                printable_json(arrival.json.decode()) if arguments.json else line(arrival.prediction), flush=True
            )
    except KeyboardInterrupt:
        pass
    finally:
        stream.close()
        context.term()
    return 0


def line(prediction: Prediction) -> str:
    """Format a prediction as one line of text."""
    at = time.strftime("%H:%M:%S", time.localtime(prediction.captured_at))
    answer = _boxes(prediction.boxes) if prediction.boxes is not None else _labels(prediction.top)
    truth = "" if prediction.truth is None else f"  (truth {prediction.truth})"
    milliseconds = 1000 * prediction.seconds.total
    thousandths = int(prediction.captured_at % 1 * 1000)
    place = f"{prediction.camera} {prediction.frame}"
    return printable(f"{at}.{thousandths:03d}  {place:16}  {milliseconds:6.1f} ms  {answer}{truth}")


def _labels(top: Sequence[Label]) -> str:
    return "  ".join(f"{label.label} {label.score:.0%}" for label in top[:3])


def _boxes(boxes: Sequence[Box]) -> str:
    """Format the best boxes with the numbers of their objects, and say how many others there are."""
    shown = [
        f"{box.label}{'' if box.track is None else f' #{box.track}'} {box.score:.0%}" for box in boxes[:MOST_BOXES]
    ]
    more = [f"and {len(boxes) - MOST_BOXES} more"] * (len(boxes) > MOST_BOXES)
    return "  ".join([*shown, *more]) or "nothing found"


def _chosen(stream: PredictionStream, arguments: argparse.Namespace) -> Iterator[Arrival]:
    """Yield the predictions of --camera, or all. Raises ConfigError if no node has that camera at the start."""
    start, received = time.monotonic(), False
    for arrival in stream.arrivals():
        if arrival is None:
            if not received and stream.cameras:
                _require_camera(stream, arguments)
                received = True
            elif not received and time.monotonic() - start > NOTICE_AFTER_S:
                note(f"waiting: nothing received from {arguments.address} yet; is `edged run` running?")
                start = math.inf
        elif arguments.camera in {None, arrival.prediction.camera}:
            yield arrival


def _require_camera(stream: PredictionStream, arguments: argparse.Namespace) -> None:
    cameras = sorted(set(chain.from_iterable(stream.cameras.values())))
    if arguments.since is None and arguments.camera not in {None, *cameras}:  # the journal may have others
        raise ConfigError(f"--camera {arguments.camera}: {arguments.address} has only {', '.join(cameras)}")
