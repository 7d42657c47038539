"""What a bridge costs the board: `python -m bench.bridge_cost`.

A hub without cameras publishes predictions at a steady rate, with a journal, and a status each second. Each bridge
carries them to its real server on this host. Printed are the processor time of the bridge's process for a
prediction and as a share of one core, the medians and middle halves of the windows, and its memory; for the last
rate also while its server is away.
"""

import argparse
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import psutil

from bench.quartiles import Quartiles
from tests.bridge import fleet
from tests.client.hub_end import Addresses, HubEnd, a_hub
from tests.e2e import broker
from tests.eventually import eventually, free_port, in_background
from tests.nats_server import nats_server

ROUND_S = 0.1


@dataclass(frozen=True)
class Use:
    """What a bridge used in one window."""

    seconds: float
    cpu_s: float
    predictions: int


@dataclass(frozen=True)
class Running:
    """A bridge between a hub and a server that can be stopped."""

    process: psutil.Process
    server: ExitStack
    is_carrying: Callable[[], bool]


def main() -> None:
    """Print a line for each bridge and rate."""
    parser = argparse.ArgumentParser(description="What a bridge costs the board.")
    parser.add_argument("--bridges", nargs="+", choices=sorted(BRIDGES), default=sorted(BRIDGES))
    parser.add_argument("--rates", type=int, nargs="+", default=[10, 150], help="predictions a second, from 10 on")
    parser.add_argument("--windows", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4.0, help="of a window")
    arguments = parser.parse_args()
    for name in arguments.bridges:
        for rate in arguments.rates:
            measure(name, rate, arguments, stop_server=rate == arguments.rates[-1])


def measure(name: str, rate: int, arguments: argparse.Namespace, *, stop_server: bool) -> None:
    """Print what a bridge costs at a rate, and with `stop_server` what it costs then."""
    with (
        TemporaryDirectory() as folder,
        publishing(Path(folder), rate) as (hub, where),
        BRIDGES[name](Path(folder), where) as running,
    ):
        eventually(running.is_carrying)
        report(f"{name}, {rate}/s", running.process, hub, arguments)
        if stop_server:
            running.server.close()
            report(f"{name}, {rate}/s, no server", running.process, hub, arguments)


@contextmanager
def publishing(folder: Path, rate: int) -> Iterator[tuple[HubEnd, Addresses]]:
    """A hub that publishes so many predictions a second until the block ends."""
    where = Addresses()

    def publish(stopped: threading.Event) -> None:
        due_s, rounds = time.monotonic(), 0
        while not stopped.wait(max(0.0, due_s - time.monotonic())):
            hub.publish(round(rate * ROUND_S))
            if rounds % round(1 / ROUND_S) == 0:
                hub.status()
            due_s, rounds = due_s + ROUND_S, rounds + 1

    with a_hub(folder, where) as hub, in_background(publish):
        yield hub, where


@contextmanager
def to_nats(folder: Path, where: Addresses) -> Iterator[Running]:
    """`edged bridge nats` to a server of its own."""
    port = free_port()
    with ExitStack() as server:
        server.enter_context(nats_server(folder, port))
        with fleet.bridge(fleet.config_file(folder, where, port)) as carrying:
            yield Running(psutil.Process(carrying.pid), server, lambda: carrying.carried > 0)


@contextmanager
def to_mqtt(folder: Path, where: Addresses) -> Iterator[Running]:
    """`edged bridge mqtt` to a broker of its own."""
    port, file = free_port(), folder / "edged.yaml"
    config = {
        "node": "test",
        "cameras": {"door": {"source": "synthetic:digits"}},
        "publish": {"address": where.stream, "replay": where.replay},
        "mqtt": {"address": f"mqtt://127.0.0.1:{port}"},
    }
    file.write_text(json.dumps(config))
    with ExitStack() as server:
        server.enter_context(broker.mosquitto(folder, port, "allow_anonymous true"))
        with broker.listener(port) as heard, broker.bridge(file, folder) as carrying:
            yield Running(psutil.Process(carrying.pid), server, lambda: "edged/test/door/prediction" in heard.last)


BRIDGES = {"mqtt": to_mqtt, "nats": to_nats}


def report(title: str, process: psutil.Process, hub: HubEnd, arguments: argparse.Namespace) -> None:
    """Measure some windows, and print them; one before these is left out."""
    uses = [use_in(arguments.seconds, process, hub) for _ in range(arguments.windows + 1)][1:]
    each = Quartiles.of([1000 * use.cpu_s / use.predictions for use in uses])
    share = Quartiles.of([100 * use.cpu_s / use.seconds for use in uses])
    rate = median(use.predictions / use.seconds for use in uses)
    memory = process.memory_info().rss / 1e6
    cost = f"{each.text(2)} ms a prediction, {share.text(1)} % of a core, {memory:.0f} MB"
    print(f"{title}: {cost}, {rate:.0f} a second", flush=True)


def use_in(seconds: float, process: psutil.Process, hub: HubEnd) -> Use:
    """Return what the process uses from now on, for so long."""
    start_s, cpu_s, first = time.monotonic(), _cpu_s(process), hub.next_seq
    time.sleep(seconds)
    return Use(time.monotonic() - start_s, _cpu_s(process) - cpu_s, hub.next_seq - first)


def _cpu_s(process: psutil.Process) -> float:
    return sum(process.cpu_times()[:2])


if __name__ == "__main__":
    main()
