"""One network over two hosts, and a link between its parts that fails."""

import time
from collections.abc import Iterator

import pytest

from tests.e2e.daemon import SYNTHETIC
from tests.e2e.pipeline import Pipeline, config_in, pipeline
from tests.eventually import eventually

pytestmark = pytest.mark.deep

FAULT_S = 2.0
SEEN = 20  # predictions while packets are lost
BACK_S = 2.0  # from the end of a fault to the next prediction


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pipeline]:
    """The first part beside the hub, the second on the host big; predictions come."""
    folder = tmp_path_factory.mktemp("split")
    config = config_in(folder, cameras={"yard": SYNTHETIC})
    config["workers"] = [
        {"device": "numpy", "group": "front"},
        {"device": "numpy", "host": "big", "group": "back"},
    ]
    config["segments"] = [{"until": "a", "workers": "front"}, {"workers": "back"}]
    config["security"] = {**config["security"], "cameras": []}
    with pipeline(folder, "hub", "big", config=config) as running:
        running.start("hub", "run", "--json")
        running.start("big", "worker", "1")
        running.goes_on()
        yield running
        assert running.is_whole()


def test_a_hub_that_is_killed_between_the_parts_finds_both_again(running: Pipeline) -> None:
    running.kill("hub")
    running.start("hub", "run", "--json")
    eventually(lambda: len({seen.boot for seen in running.seen.seen}) == 2)
    running.goes_on()
    assert {each["model"]["worker"] for each in running.predictions()} == {"local-0+big-1"}


@pytest.mark.promise("predictions go on within 2 s of the end of a fault")
def test_a_partition_between_the_parts_ends_and_predictions_go_on(running: Pipeline) -> None:
    with running.hosts["big"].cut_off():
        time.sleep(FAULT_S)
    took_s = running.goes_on()
    print(f"{took_s:.2f} s after a partition of {FAULT_S:g} s")
    assert took_s < BACK_S


@pytest.mark.promise("predictions go on within 2 s of the end of a fault")
def test_lost_packets_between_the_parts_cost_frames_and_nothing_else(running: Pipeline) -> None:
    with running.hosts["hub"].losing(0.05):
        running.goes_on(SEEN)
    assert running.goes_on() < BACK_S
