"""Peers that are refused: announced once, with both versions, and no device is blamed."""

from pathlib import Path

import pytest

from edged import __version__
from edged.hub.events import REFUSALS_REMEMBERED, HubEvent, Refusal, Refusals
from edged.messages import PROTOCOL
from tests.eventually import eventually
from tests.hub.running import Run, child, goes_on, of_workers, while_it_runs


def refused(name: str, why: str) -> HubEvent:
    return Refusal(f"worker/{name}", why).notice()


def lost(name: str) -> HubEvent:
    return HubEvent("worker_lost", f"worker {name} was refused", worker=name)


def test_a_refusal_and_the_end_that_follows_are_news_once() -> None:
    refusals = Refusals()
    said = [refused("a", "old"), lost("a"), refused("a", "old"), lost("a"), refused("b", "old"), lost("b")]
    assert [refusals.is_news(each) for each in said] == [True, True, False, False, True, True]


def test_another_reason_is_news_and_so_is_the_same_one_after_it_was_taken() -> None:
    refusals = Refusals()
    assert refusals.is_news(refused("a", "old"))
    assert refusals.is_news(refused("a", "another model"))
    assert refusals.is_news(HubEvent("worker_up", "ready", worker="a"))
    assert refusals.is_news(lost("a"))
    assert refusals.is_news(refused("a", "another model"))


def test_strangers_of_many_names_are_remembered_up_to_a_bound() -> None:
    refusals = Refusals()
    for number in range(REFUSALS_REMEMBERED + 10):
        assert refusals.is_news(refused(str(number), "old"))
    assert refusals.is_news(refused("0", "old"))
    assert not refusals.is_news(refused(str(REFUSALS_REMEMBERED), "old"))


@pytest.mark.deep
def test_a_worker_of_an_older_schema_is_refused_once_and_the_next_one_takes_over(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run = Run(tmp_path, ["steady"], ["good then older", "good"], recovery={"retry_device_s": 0.5})
    again = 'edged_worker_restarts_total{reason="refused",worker="local-0"} 2'

    def upgrade() -> None:
        child("worker", "0").kill()
        eventually(lambda: "takes over" in caplog.text)
        goes_on(tmp_path)
        eventually(lambda: again in run.metrics())

    with run.events() as heard:
        while_it_runs(run, tmp_path, upgrade)
    theirs = "worker local-0 is refused: it is edged of an unknown version (protocol 1)"
    assert caplog.text.count(f"{theirs}, this is edged {__version__} (protocol {PROTOCOL})") == 1
    assert "worker local-0 was refused: it is given up, local-1 (device good) takes over" in caplog.text
    assert "its device" not in caplog.text
    assert [event for event, _ in of_workers(heard)].count("refused") == 1


def test_a_worker_of_an_older_schema_alone_is_waited_for(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    run = Run(tmp_path, ["steady"], ["good then older"])

    def upgrade() -> None:
        child("worker", "0").kill()
        eventually(lambda: "worker local-0 was refused; it starts again in" in caplog.text)

    while_it_runs(run, tmp_path, upgrade)
    assert "given up" not in caplog.text
