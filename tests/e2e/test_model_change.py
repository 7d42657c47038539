"""Another model while the daemon runs: by `edged reload`."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from edged.client import Prediction, subscribe
from tests.cli.models import small_network, text_file
from tests.e2e.daemon import PATIENT, START_S, Daemon, config_in, conserves, run_edged
from tests.e2e.daemon_use import reload
from tests.eventually import eventually

TWO = [{"device": "numpy", "group": "both"}, {"device": "numpy", "group": "both"}]


def until_model_changes(daemon: Daemon, before: str) -> list[Prediction]:
    """The predictions up to the fifth of another model."""
    taken: list[Prediction] = []
    for prediction in subscribe(daemon.address, timeout_s=START_S, since_s=3600):
        taken.append(prediction)
        if len(taken) > 5 and all(each.model.sha256 != before for each in taken[-5:]):
            return taken
    raise AssertionError("the stream ended")


def test_all_workers_change_at_one_prediction_and_no_number_is_missing(tmp_path: Path) -> None:
    link = tmp_path / "net.onnx"
    link.symlink_to(small_network(tmp_path / "first.onnx"))
    config = config_in(tmp_path, model={"path": str(link)}, workers=TWO, freshness=PATIENT)
    with run_edged(tmp_path, config=config) as daemon:
        first = daemon.first(1)[0].model.sha256
        small_network(tmp_path / "second.onnx", largest=2.0)
        link.unlink()
        link.symlink_to(tmp_path / "second.onnx")
        code, words = reload(daemon)
        assert (code, "settings: model.path" in words) == (0, True)
        taken = until_model_changes(daemon, first)
        assert conserves(daemon.stop())
    numbers = [each.seq for each in taken]
    assert numbers == list(range(numbers[0], numbers[-1] + 1))
    assert sum(one.model.sha256 != next_.model.sha256 for one, next_ in pairwise(taken)) == 1
    assert taken[-1].model.name == "second"
    assert "answers in place of first" in daemon.log()


@pytest.mark.deep
def test_a_model_of_another_size_and_back_again(tmp_path: Path) -> None:
    with run_edged(tmp_path) as daemon:
        before = daemon.first(1)[0].model
        larger = small_network(tmp_path / "larger.onnx", size=24)
        assert reload(daemon, model={"path": str(larger)})[0] == 0
        assert until_model_changes(daemon, before.sha256)[-1].model.name == "larger"
        assert reload(daemon)[0] == 0
        eventually(lambda: daemon.first(1)[0].model == before)
        assert conserves(daemon.stop())


@pytest.mark.deep
def test_a_model_that_cannot_be_read_stops_predictions_until_the_former_is_back(tmp_path: Path) -> None:
    with run_edged(tmp_path) as daemon:
        before = daemon.first(1)[0].model
        damaged = text_file(tmp_path / "damaged.onnx")
        assert reload(daemon, model={"path": str(damaged)})[0] == 0
        eventually(lambda: str(damaged) in daemon.log())
        assert reload(daemon)[0] == 0
        eventually(lambda: daemon.first(1)[0].model == before)
        summary = daemon.stop()
    assert conserves(summary), json.dumps(summary)
