"""The whole hub, and a network in segments over peers that do as they are told (see tests.hub.peers)."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from edged.messages import Event
from tests.hub.running import Run

SEGMENTS = [{"until": "stage2", "workers": "front"}, {"workers": "back"}]


def split(folder: Path, front: str, back: str, *others: str, **sections: Any) -> Run:
    """A network in two parts, and others that run the whole of it where a part has no worker."""
    workers = [
        {"device": front, "group": "front"},
        {"device": back, "group": "back"},
        *({"device": device} for device in others),
    ]
    return Run(folder, ["steady"], [], workers=workers, segments=SEGMENTS, **sections)


def workers_in(folder: Path) -> list[str]:
    """Who made the predictions, in the order in which they began to."""
    with closing(sqlite3.connect(folder / "journal.sqlite")) as journal:
        rows = journal.execute("SELECT json FROM predictions WHERE json != x'' ORDER BY seq")
        return list(dict.fromkeys(json.loads(row)["model"]["worker"] for (row,) in rows))


def has_event(heard: list[Event], event: str) -> bool:
    return any(each.event == event for each in heard)


def test_two_workers_make_each_prediction_together(tmp_path: Path) -> None:
    summary = split(tmp_path, "good", "good").until(predictions=100)
    assert summary["predictions"] == 100
    assert summary["accuracy"] == 1.0
    assert workers_in(tmp_path) == ["local-0+local-1"]


@pytest.mark.deep
@pytest.mark.parametrize("front", ["short_features", "unlike_features"])
def test_what_is_no_tensor_of_the_cut_goes_to_nobody(
    tmp_path: Path, front: str, caplog: pytest.LogCaptureFixture
) -> None:
    summary = split(tmp_path, front, "good", "good").until(predictions=20)
    assert "worker local-0 sent an invalid answer to a job" in caplog.text
    assert summary["dropped"]["device_error"] > 0
    assert workers_in(tmp_path) == ["local-2"]


@pytest.mark.deep
def test_where_one_part_has_no_worker_another_one_runs_the_whole_until_it_has(tmp_path: Path) -> None:
    run = split(tmp_path, "good", "exit 3 then good", "slow", recovery={"retry_device_s": 3})
    with run.events() as heard:
        run.once(lambda: len(workers_in(tmp_path)) > 1 and has_event(heard, "device_retried"))
    assert workers_in(tmp_path) == ["local-2", "local-0+local-1"]
    told = [(event.event, event.worker) for event in heard]
    fallback, retired = told.index(("fallback", "local-1")), told.index(("worker_retired", "local-0"))
    assert fallback < retired < told.index(("device_retried", "local-0"))  # a front alone has nothing to do


@pytest.mark.deep
def test_a_device_that_runs_a_part_runs_the_whole_meanwhile_and_then_its_part_again(tmp_path: Path) -> None:
    run = split(tmp_path, "slow", "exit 3 then good", "slow", recovery={"retry_device_s": 3})
    with run.events() as heard:
        run.once(lambda: len(workers_in(tmp_path)) > 1 and has_event(heard, "device_retried"))
    assert workers_in(tmp_path) == ["local-2", "local-0+local-1"]
    [retried] = [event for event in heard if event.event == "device_retried"]
    assert retried.message == "device slow and exit 3 then good works again: worker local-0, local-1 serves"
