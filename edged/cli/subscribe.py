"""`edged subscribe`: predictions, one a line."""

import argparse
import sys
import time
from collections.abc import Iterator
from itertools import islice

import zmq

from edged.cli.options import add_hub_options, address, ago, positive
from edged.client.stream import PredictionStream
from edged.client.subscription import Arrival
from edged.messages import Prediction
from edged.system import log
from edged.system.plain_text import printable, printable_json
from edged.transport.client_socket import curve_of

NOTICE_AFTER_S = 2.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Where to listen and what to print."""
    add_hub_options(parser)
    parser.add_argument("--replay", type=address, metavar="ADDRESS", help="where to fetch what was missed")
    parser.add_argument("--json", action="store_true", help="print the messages as they were published")
    parser.add_argument("--count", type=positive, metavar="N", help="end after N predictions")
    parser.add_argument("--camera", metavar="NAME", help="only this camera")
    parser.add_argument("--since", type=ago, metavar="TIME", help="begin so long ago: 30s, 5m, 2h, 1d")


def run(arguments: argparse.Namespace) -> int:
    """Print until the count is reached or Ctrl-C."""
    log.configure()
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
    """One prediction for people."""
    at = time.strftime("%H:%M:%S", time.localtime(prediction.captured_at))
    top = "  ".join(f"{label.label} {label.score:.0%}" for label in prediction.top[:3])
    truth = "" if prediction.truth is None else f"  (truth {prediction.truth})"
    milliseconds = 1000 * prediction.seconds.total
    thousandths = int(prediction.captured_at % 1 * 1000)
    place = f"{prediction.camera} {prediction.frame}"
    return printable(f"{at}.{thousandths:03d}  {place:16}  {milliseconds:6.1f} ms  {top}{truth}")


def _chosen(stream: PredictionStream, arguments: argparse.Namespace) -> Iterator[Arrival]:
    start, heard = time.monotonic(), False
    for arrival in stream.arrivals():
        if arrival is None:
            if not heard and time.monotonic() - start > NOTICE_AFTER_S:
                print(f"edged: nothing from {arguments.address} yet: waiting; is `edged run` up?", file=sys.stderr)
                heard = True
        else:
            heard = True
            if arguments.camera in {None, arrival.prediction.camera}:
                yield arrival
