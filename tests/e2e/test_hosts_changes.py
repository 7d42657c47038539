"""Workers and cameras of other hosts come and go while the hub runs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.daemon import SYNTHETIC
from tests.e2e.pipeline import Pipeline, config_in, pipeline
from tests.eventually import eventually

pytestmark = pytest.mark.deep

FAST = {"source": "synthetic:digits", "size": [64, 48], "fps": 400, "host": "gate"}  # one worker has always a job
FIRST = {"device": "numpy", "host": "big", "group": "all"}
SECOND = {"device": "numpy", "host": "spare", "group": "all"}


def config(folder: Path, **sections: Any) -> dict[str, Any]:
    """Both keys may be there from the start: who is refused without one is tested elsewhere."""
    whole = config_in(folder, **{"workers": [FIRST], "cameras": {"yard": FAST}, **sections})
    whole["security"]["workers"].append("keys/spare.pub")
    return whole


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pipeline]:
    """The same hosts for one change after another; each ends with the config that was there at first."""
    folder = tmp_path_factory.mktemp("changes")
    with pipeline(folder, "hub", "gate", "big", "spare", config=config(folder)) as running:
        running.start("hub", "run", "--json")
        running.start("gate", "camera", "yard")
        running.start("big", "worker", "0")
        running.goes_on()
        yield running
        assert running.is_whole()
        in_hand = 2  # of a worker that went: tried again, unless newer frames have taken their places
        assert running.summary["dropped"].get("worker_lost", 0) <= in_hand
        assert "deadline" not in running.summary["dropped"]


def workers_of_the_last(running: Pipeline, count: int) -> set[str]:
    """Who has made the next predictions."""
    before = len(running.seen.seen)
    eventually(lambda: len(running.seen.seen) >= before + count)
    return {each["model"]["worker"] for each in running.predictions(before)}


def test_a_worker_that_is_added_takes_its_share_and_one_that_is_removed_loses_no_frame(running: Pipeline) -> None:
    folder = running.folder
    running.reload(config(folder, workers=[FIRST, SECOND]))
    running.start("spare", "worker", "1")
    eventually(lambda: workers_of_the_last(running, 50) == {"big-0", "spare-1"})
    running.reload(config(folder))
    assert running.says("spare", "the config no longer has worker spare-1")
    running.ends("spare")
    assert workers_of_the_last(running, 50) == {"big-0"}


def test_a_camera_that_is_added_and_removed_is_counted_to_the_last_frame(running: Pipeline) -> None:
    folder = running.folder
    both = {"yard": FAST, "door": {**SYNTHETIC, "host": "gate"}}
    running.reload(config(folder, cameras=both))
    running.start("door", "camera", "door", on="gate")
    eventually(lambda: any(each["camera"] == "door" for each in running.predictions(-50)))
    running.reload(config(folder))
    running.ends("door")
    running.goes_on()


def test_a_camera_moves_from_the_hubs_host_to_another_one_and_back(running: Pipeline) -> None:
    folder = running.folder
    here = {"yard": {each: value for each, value in FAST.items() if each != "host"}}
    running.reload(config(folder, cameras=here))
    running.ends("gate")
    eventually(lambda: running.predictions(-1)[0]["clock_error"] == 0)
    running.reload(config(folder))
    running.start("gate", "camera", "yard")
    eventually(lambda: running.predictions(-1)[0]["clock_error"] > 0)
    running.goes_on()
