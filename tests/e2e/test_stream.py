"""What a running daemon publishes, read by our client, by another program and by promtool."""

import json
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import jsonschema
import pytest
import zmq

from edged.client import subscribe
from edged.messages import SNAPSHOTS
from tests.e2e.daemon import PATIENT, START_S, SYNTHETIC, Daemon, config_in, run_edged
from tests.e2e.node_packages import zeromq_folder
from tests.eventually import LIMIT_MS, LIMIT_S, eventually
from tools.message_schemas import PUBLISHED, schema_file

NODE_SUBSCRIBER = """
const zmq = require("zeromq")
async function main() {
  const socket = new zmq.Subscriber()
  socket.connect(process.argv[2])
  socket.subscribe("edged/test/")
  const seen = { prediction: 0, status: 0 }
  for await (const [topic, message] of socket) {
    const what = topic.toString().split("/").pop()
    console.log(topic.toString() + "\\t" + JSON.stringify(JSON.parse(message.toString())))
    seen[what] += 1
    if (seen.prediction >= 10 && seen.status >= 1) process.exit(0)
  }
}
main()
"""


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """One that sends snapshots too, of which nobody hears who has not asked for them."""
    folder = tmp_path_factory.mktemp("stream")
    cameras = {"demo": {**SYNTHETIC, "snapshot": {"every_s": 0.1}}}
    config = config_in(folder, cameras=cameras, freshness=PATIENT)
    with run_edged(folder, config=config) as daemon:
        daemon.first(1)
        yield daemon


def test_numbers_are_consecutive_and_times_add_up(daemon: Daemon) -> None:
    predictions = daemon.first(20)
    first = predictions[0].seq
    assert [each.seq for each in predictions] == list(range(first, first + 20))
    for each in predictions:
        seconds = each.seconds
        parts = seconds.preprocess + seconds.wait + seconds.upload + seconds.forward + seconds.download
        assert seconds.total == pytest.approx(parts + seconds.publish, abs=1e-6)
        assert each.published_at >= each.captured_at
        assert each.top == tuple(sorted(each.top, key=lambda label: -label.score))


def test_everything_that_is_published_fits_its_schema(daemon: Daemon) -> None:
    validators = {
        what: jsonschema.Draft202012Validator(json.loads(schema_file(what).read_text())) for what in PUBLISHED
    }
    seen: set[str] = set()
    with zmq.Context() as context, context.socket(zmq.SUB) as socket:
        socket.subscribe("")
        socket.connect(daemon.address)
        daemon.child("camera").kill()  # makes events
        while seen != set(PUBLISHED):
            assert socket.poll(LIMIT_MS)
            topic, message, *_ = socket.recv_multipart()
            what = "snapshot" if topic == b"snapshot/test/demo" else topic.decode().rpartition("/")[2]
            validators[what].validate(json.loads(message))
            assert json.loads(message)["schema"] == 1
            seen.add(what)


def test_snapshots_are_jpegs_of_frames_of_the_stream(daemon: Daemon) -> None:
    shown: dict[float, int] = {}
    with zmq.Context() as context, context.socket(zmq.SUB) as socket:
        socket.subscribe(SNAPSHOTS)
        socket.connect(daemon.address)
        while len(shown) < 5:
            assert socket.poll(LIMIT_MS)
            _, header, jpeg = socket.recv_multipart()
            assert jpeg.startswith(b"\xff\xd8")
            shown[json.loads(header)["captured_at"]] = json.loads(header)["frame"]
    stream = subscribe(daemon.address, since_s=600, timeout_s=START_S)
    until_then = takewhile(lambda each: each.captured_at <= max(shown), stream)
    predicted = {each.captured_at: each.frame for each in until_then if each.captured_at in shown}
    assert predicted  # a frame that was dropped has a snapshot alone
    assert predicted.items() <= shown.items()


def test_a_subscriber_that_comes_late_gets_what_it_asks_for(daemon: Daemon) -> None:
    daemon.first(1)
    early = daemon.first(30, since_s=600)
    assert [each.seq for each in early] == list(range(30))


@pytest.mark.deep
def test_a_program_that_is_not_ours_reads_the_stream(daemon: Daemon, zeromq_for_node: Path) -> None:
    script = zeromq_for_node / "subscriber.js"
    script.write_text(NODE_SUBSCRIBER)
    done = subprocess.run(
        ["node", str(script), daemon.address], capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    predictions = [json.loads(message) for topic, message in lines if topic == "edged/test/demo/prediction"]
    first = predictions[0]["seq"]
    assert [each["seq"] for each in predictions] == list(range(first, first + len(predictions)))
    assert {each["model"]["name"] for each in predictions} == {"small"}


@pytest.fixture(scope="module")
def zeromq_for_node() -> Path:
    """A folder with the npm package `zeromq`."""
    return zeromq_folder()


def test_promtool_has_nothing_to_say_of_the_metrics(daemon: Daemon) -> None:
    if not shutil.which("promtool"):
        pytest.skip("promtool is absent: apt install prometheus")
    eventually(lambda: "edged_frames_total{" in daemon.metrics())
    text = daemon.metrics()
    done = subprocess.run(
        ["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_metrics_conserve_too(daemon: Daemon) -> None:
    text = daemon.metrics()

    def total(name: str) -> float:
        return sum(map(float, re.findall(rf"^{name}{{.*}} (\S+)$", text, re.MULTILINE)))

    ledger = total("edged_frames_total") - total("edged_frames_dropped_total") - total("edged_frames_pending")
    assert 0 < ledger <= total("edged_predictions_total")  # predictions count at once, frames each second


def test_one_line_a_prediction(daemon: Daemon) -> None:
    done = subscribe_command(daemon, "--count", "3")
    assert len(done.stdout.splitlines()) == 3
    assert all(" ms  " in line and "demo" in line for line in done.stdout.splitlines())


def test_json_lines_are_the_messages_as_published(daemon: Daemon) -> None:
    done = subscribe_command(daemon, "--count", "3", "--json", "--since", "10m", "--camera", "demo")
    assert [json.loads(line)["seq"] for line in done.stdout.splitlines()] == [0, 1, 2]


def subscribe_command(daemon: Daemon, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "edged", "subscribe", daemon.address, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done


def test_ctrl_c_ends_a_subscriber_without_a_traceback(daemon: Daemon) -> None:
    command = [sys.executable, "-m", "edged", "subscribe", daemon.address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0
    assert errors == ""
