"""One file, three hosts: a hub, a camera and a worker, each with a key of its own."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from edged import __version__
from edged.messages import PROTOCOL
from tests.cli.models import small_network
from tests.e2e.pipeline import Pipeline, config_in, pipeline, three_hosts
from tests.eventually import eventually

pytestmark = pytest.mark.deep

ANOTHER_VERSION = (sys.executable, "-m", "tests.e2e.another_version")


def test_a_camera_and_a_worker_on_other_hosts_serve_as_if_they_were_here(tmp_path: Path) -> None:
    with three_hosts(tmp_path) as running:
        eventually(lambda: len(running.seen.seen) > 30)
        last = running.predictions()[-1]
        assert 0 < last["clock_error"] < 0.1
        assert all(value >= 0 for value in last["seconds"].values())
        assert last["model"]["worker"] == "big-0"
        assert running.is_whole()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pipeline]:
    """Its config has a worker and a camera more than run; the key of the host `other` is allowed nothing."""
    folder = tmp_path_factory.mktemp("refused")
    config = config_in(folder)
    config["workers"] = [*config["workers"], {"device": "numpy", "host": "spare"}]
    config["cameras"]["door"] = {**config["cameras"]["yard"], "host": "gate"}
    config["security"]["workers"].append("keys/spare.pub")
    with pipeline(folder, "hub", "gate", "big", "spare", "other", config=config) as running:
        running.start("hub", "run", "--json")
        running.start("gate", "camera", "yard")
        running.start("big", "worker", "0")
        running.goes_on()
        yield running
        assert running.is_whole()


def is_refused(running: Pipeline, name: str, hub_says: str, it_says: str) -> bool:
    """Whether it has ended, and the hub and itself have logged why."""
    assert running.ends(name) != 0
    return running.says("hub", hub_says) and running.says(name, it_says)


def test_a_worker_with_another_model_is_refused_and_both_sides_say_why(running: Pipeline) -> None:
    small_network(running.folder / "spare/small.onnx", largest=2.0)
    running.start("another model", "worker", "1", on="spare")
    why = "it runs small ("
    assert is_refused(running, "another model", f"worker spare-1 is refused: {why}", f"refused this worker: {why}")
    small_network(running.folder / "spare/small.onnx")


@pytest.mark.parametrize(("verb", "host", "peer"), [
    (("worker", "1"), "spare", "worker spare-1"),
    (("camera", "door"), "gate", "camera door"),
])  # fmt: skip
def test_another_version_is_refused_and_both_sides_say_why(
    running: Pipeline, verb: tuple[str, ...], host: str, peer: str
) -> None:
    name, why = (
        f"another {verb[0]}",
        f"it is edged of an unknown version (protocol 1), this is edged {__version__} (protocol {PROTOCOL})",
    )
    running.start(name, *verb, on=host, by=ANOTHER_VERSION)
    assert is_refused(running, name, f"{peer} is refused: {why}", why)


@pytest.mark.parametrize(("host", "verb", "words"), [
    ("gate", ("worker", "1"), "its key is for camera, not for a worker"),
    ("spare", ("camera", "door"), "its key is for worker, not for a camera"),
])  # fmt: skip
def test_a_key_is_good_for_what_it_was_given_for_alone(
    running: Pipeline, host: str, verb: tuple[str, ...], words: str
) -> None:
    name = f"{verb[0]} at {host}"
    running.start(name, *verb, on=host)
    assert is_refused(running, name, words, words)


def test_a_key_that_is_in_no_list_is_refused_until_it_is_added(running: Pipeline) -> None:
    running.start("stranger", "worker", "1", on="other")
    assert running.says("stranger", "the hub does not know this key")
    assert running.says("hub", "its key is not allowed there")
    config = json.loads((running.folder / "hub/edged.yaml").read_text())
    config["security"]["workers"].append("keys/other.pub")
    running.reload(config)
    assert running.says("hub", "worker spare-1 is ready")
    running.kill("stranger")
