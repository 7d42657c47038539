"""Which subscribers a daemon serves, and which peers it rejects."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import zmq

from edged.client.stream import PredictionStream
from edged.transport.client_socket import curve_of
from tests.background import in_background
from tests.e2e.daemon import Daemon


@contextmanager
def listening(daemon: Daemon, **keys: Path) -> Iterator[list[int]]:
    """Collect the numbers of the predictions that a subscriber with these keys receives meanwhile."""
    numbers: list[int] = []

    def listen(stopped: threading.Event) -> None:
        with zmq.Context() as context:
            stream = PredictionStream(
                context, daemon.address, curve=curve_of(keys.get("key"), keys.get("server_key"))
            )
            for arrival in stream.arrivals():
                if arrival:
                    numbers.append(arrival.prediction.seq)
                if stopped.is_set():
                    break
            stream.close()

    with in_background(listen):
        yield numbers


def rejected(daemon: Daemon, reason: str, endpoint: str = "publish.address") -> float:
    """Return how many peers an endpoint has rejected for this reason, by the metrics."""
    start = f'edged_peers_rejected_total{{endpoint="{endpoint}",reason="{reason}"}} '
    lines = [line for line in daemon.metrics().splitlines() if line.startswith(start)]
    return float(lines[0].removeprefix(start)) if lines else 0.0
