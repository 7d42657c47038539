"""`python -m trials.soak.attacks crowd|rollout|broker`: what each did before it was mended, with its figures.

Exit code 1 if one does harm.
"""

import signal
import sys
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from edged.bridge.topics import MqttMessage
from tests.bridge.connection import connected
from tests.e2e.broker import listener, mosquitto
from tests.e2e.daemon import run_edged
from tests.e2e.daemon_use import rejected
from tests.e2e.fleet import board, fleet_server, variation
from tests.e2e.fleet_intruder import exchange_model_while_fetching
from tests.e2e.heard import flooded, heard_from, longest_gap_s, predictions
from tests.eventually import eventually, free_port

CROWDS = (("flood", 150), ("flood", 700), ("rise", 700))  # see `crowd`: 3,000 topics each, and 50
CROWD_S, GAP_S = 15.0, 0.3
SOME = 60  # predictions: two seconds of them
HANG_S = 30.0
CAMERAS = 1000


def crowd(folder: Path) -> bool:
    """Subscribers with many short topics, beside one that wants the predictions; at the end all leave at once."""
    return max(longest_of_crowd(folder, kind, count) for kind, count in CROWDS) <= GAP_S


def longest_of_crowd(folder: Path, kind: str, count: int) -> float:
    """Print what a crowd did; return the longest gap in seconds."""
    with run_edged(folder) as daemon, heard_from(daemon) as heard:
        eventually(lambda: len(predictions(heard)) > SOME)
        before = len(heard)
        with flooded(daemon, kind, count):
            time.sleep(CROWD_S)
            cut = rejected(daemon, "too_much")
            there = longest_gap_s(heard[before:])
        left, before = len(predictions(heard)), len(heard) - 1
        eventually(lambda: len(predictions(heard)) > left + SOME)
        leave = longest_gap_s(heard[before:])
        paused = [line for line in daemon.log().splitlines() if "the hub paused" in line]
    print(
        f"{kind} {count}: longest gap of a good subscriber {there:.3f} s, {leave:.3f} s as all left; "
        f"{cut:.0f} disconnected; pauses of the hub: {paused or 'none'}",
        flush=True,
    )
    return max(there, leave)


def rollout(folder: Path) -> bool:
    """Put an unsigned model into the record of a roll-out, under its id, once a board fetches the signed one."""
    with fleet_server(folder) as fleet:
        fleet.publish(variation(folder / "doors-2.onnx"))
        unsigned = variation(folder / "other.onnx", seed=2).read_bytes()
        with board(fleet, "north") as north, north.agent():
            eventually(lambda: "north" in fleet.nodes())
            before = north.daemon.first(1)[0].model.sha256
            fleet.begin("doors-2")
            exchange_model_while_fetching(fleet, unsigned)
            report = fleet.wait_for(north="cancelled")["north"]
            was_fetched = bool(list(north.folder.rglob(sha256(unsigned).hexdigest())))
            answers = north.daemon.first(1)[0].model.sha256
    print(f"the board reports: {report['message']}")
    print(f"the unsigned model was fetched: {was_fetched}; the model before still answers: {answers == before}")
    return not was_fetched and answers == before


def broker(folder: Path) -> bool:
    """A broker that hangs while a state changes, and one that forgets everything, with a thousand cameras."""
    port, topic = free_port(), "edged/node/door/state"
    with mosquitto(folder, port, "allow_anonymous true") as process, connected(port) as bridge:
        bridge.publish([MqttMessage(topic, "open")])
        with listener(port) as heard:
            eventually(lambda: heard.last.get(topic) == "open")
        process.send_signal(signal.SIGSTOP)
        for number in range(round(HANG_S)):
            bridge.publish([MqttMessage(topic, str(number))])
            time.sleep(1)
        bridge.publish([MqttMessage(topic, "closed")])
        process.send_signal(signal.SIGCONT)
        bridge.publish([MqttMessage("edged/node/later", "sent behind it")])
        with listener(port) as heard:
            eventually(lambda: "edged/node/later" in heard.last)
            retained = heard.last[topic]
        bridge.publish([MqttMessage(f"edged/node/{number}/availability", "online") for number in range(CAMERAS)])
        process.kill()
        process.wait()
        with mosquitto(folder, port, "allow_anonymous true"), listener(port) as heard:
            eventually(lambda: sum(each.endswith("/availability") for each in heard.last) == CAMERAS)
    print(f"after {HANG_S:g} s the state retained is {retained!r}, the newest one 'closed'")
    print(f"{CAMERAS} cameras are retained again by a broker that had forgotten them")
    return retained == "closed"


ATTACKS: dict[str, Callable[[Path], bool]] = {each.__name__: each for each in (crowd, rollout, broker)}


def main(names: list[str]) -> int:
    harmless = []
    for name in names or ATTACKS:
        with TemporaryDirectory() as folder:
            harmless.append(ATTACKS[name](Path(folder)))
    return 0 if all(harmless) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
