"""Use a running daemon: give it another config, measure its recovery from a fault, subscribe to it."""

import json
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import zmq

from edged.client.stream import PredictionStream
from edged.transport.client_socket import curve_of
from tests.cli.command import edged
from tests.e2e.daemon import Daemon
from tests.eventually import eventually, in_background
from tests.given_time import GivenTime

WITHIN_S = 3.0


def written(daemon: Daemon, **sections: Any) -> Path:
    """Write the daemon's config, changed by `sections`; return its path."""
    path = daemon.folder / "edged.yaml"
    path.write_text(json.dumps({**daemon.config, **sections}))
    return path


def hang_up(daemon: Daemon, **sections: Any) -> None:
    """Let the daemon read a config, by the signal, that `edged reload` would reject itself."""
    written(daemon, **sections)
    daemon.process.send_signal(signal.SIGHUP)


def reload(daemon: Daemon, **sections: Any) -> tuple[int, str]:
    """Write the daemon's config, changed by `sections`; return exit code and messages of `edged reload`."""
    path = written(daemon, **sections)
    done = edged("reload", path, env={"XDG_STATE_HOME": str(daemon.folder)})
    return done.returncode, done.stderr


def seconds_to_recover(daemon: Daemon, worker: psutil.Process, fault: Callable[[], None]) -> float:
    """Return given seconds from the fault to the first prediction after the end of the worker that met it."""
    given = GivenTime()
    fault()
    eventually(lambda: not worker.is_running())
    assert daemon.first(1)
    took_s = given.seconds()
    print(f"{took_s:.2f} s from the fault to the next prediction")
    return took_s


def restarts(daemon: Daemon, reason: str) -> float:
    """Return how often local-0 was lost for this reason, by the metrics."""
    name = f'edged_worker_restarts_total{{reason="{reason}",worker="local-0"}} '
    return next((float(line.removeprefix(name)) for line in daemon.metrics().splitlines() if name in line), 0.0)


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
