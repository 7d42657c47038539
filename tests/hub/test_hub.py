"""The whole hub with peers that do as they are told (see tests.hub.peers)."""

import json
import logging
import re
import socket
from pathlib import Path

import pytest
import zmq

from edged.config import JournalConfig as Settings
from edged.config.load import load_config
from edged.errors import ConfigError, DeviceError, DeviceMemoryError, ModelError
from edged.hub.journal.journal import Journal
from edged.messages import ReplayRequest
from tests.client.hub_end import fetch
from tests.hub.pipeline import new_services
from tests.hub.running import Run, cameras_in, goes_on, of_workers, while_it_runs


def test_exactly_so_many_predictions_with_truth_and_joules(tmp_path: Path) -> None:
    run = Run(tmp_path, ["steady"], ["good"])
    summary = run.until(predictions=150)
    assert summary["predictions"] == 150
    assert summary["accuracy"] == 1.0
    assert summary["energy"] == {"joules": 75.0, "method": "measured", "per_prediction": 0.5, "note": ""}
    assert any("fps" in line and "0.5 J/frame" in line for line in run.lines)


def test_the_first_lines_say_where_the_stream_the_metrics_and_the_page_are(tmp_path: Path) -> None:
    run = Run(tmp_path, ["steady"], ["good"])
    run.until(predictions=1)
    config = load_config(run.path)
    assert run.lines[:3] == [
        f"stream   {config.publish.address} (edged subscribe {config.publish.address})",
        f"metrics  http://{config.metrics.address}/metrics",
        f"page     edged view {config.publish.address}",
    ]


def test_a_frame_of_the_wrong_size_is_lost_on_the_link_and_the_end_of_all_cameras_is_the_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    summary = Run(tmp_path, ["short"], ["good"]).until()
    assert summary["captured"] == 11
    assert summary["dropped"]["link"] == 1
    assert "camera short has ended" in caplog.text


@pytest.mark.deep
def test_a_camera_that_has_ended_is_not_started_again_while_another_one_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    waits = {"keep": 64, "max_age_s": 60}  # no frame is dropped if the worker starts late
    run = Run(tmp_path, ["short", "steady"], ["good"], freshness=waits)

    def others_go_on() -> bool:
        return "camera short has ended" in caplog.text and set(cameras()[-150:]) == {"steady"}

    def cameras() -> list[str]:
        return cameras_in(tmp_path / "journal.sqlite")

    run.once(others_go_on)
    assert cameras().count("short") == 10  # 20, had it been started twice


@pytest.mark.deep
def test_two_cameras_that_are_too_fast_for_the_worker_get_equal_shares(tmp_path: Path) -> None:
    run = Run(tmp_path, ["steady-a", "steady-b"], ["slow"])

    def equal_shares() -> bool:
        """Of some 40 predictions in a row: one camera may start later than the other, or get less time."""
        served = cameras_in(tmp_path / "journal.sqlite")
        windows = (served[first : first + 40] for first in range(len(served) - 39))
        return any(18 <= window.count("steady-a") <= 22 for window in windows)

    summary = run.once(equal_shares)

    assert summary["dropped"]["superseded"] > 40


def test_a_worker_that_cannot_start_its_device_makes_way_for_the_next(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run = Run(tmp_path, ["steady"], ["exit 3", "good"])
    with run.events() as heard:
        run.until(predictions=5)
    assert [record.message for record in caplog.records if "takes over" in record.message] == [
        "worker local-0 ended with exit code 3: its device exit 3 is given up, local-1 (device good) takes over"
    ]
    assert [event for event, _ in of_workers(heard)] == ["fallback", "worker_up"]


def test_no_worker_at_all_ends_the_hub(tmp_path: Path) -> None:
    with pytest.raises(
        DeviceError, match=r"no worker can run \(local-1 was the last of workers: \[exit 3, exit 3\]\)"
    ):
        Run(tmp_path, ["steady"], ["exit 3", "exit 3"]).until()


def test_a_model_that_no_worker_can_use_ends_the_hub(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot use the model"):
        Run(tmp_path, ["steady"], ["exit 2", "good"]).until()


@pytest.mark.deep
def test_bad_input_of_a_worker_that_was_ready_before_is_a_loss_like_any_other(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    summary = Run(tmp_path, ["steady"], ["broken then exit 2", "good"]).until(predictions=5)
    assert summary["predictions"] == 5
    assert "local-0 ended with exit code 2; it starts again in 0.5 s" in caplog.text


def test_a_worker_that_is_not_ready_in_time_is_killed_and_its_device_given_up(tmp_path: Path) -> None:
    run = Run(tmp_path, ["steady"], ["compiles", "good"], recovery={"start_s": 0.2})
    with run.events() as heard:
        # not for longer: the next one is to be ready as soon
        run.once(lambda: "fallback" in dict(of_workers(heard)))
    fallback = next(event for event in heard if event.event == "fallback")
    # a process that takes long to die is given up, too
    reasons = ("not ready in time and was killed", "killed and does not end")
    assert fallback.message.startswith(tuple(f"worker local-0 was {reason}: its device" for reason in reasons))
    assert fallback.message.endswith("local-1 (device good) takes over")


@pytest.mark.deep
def test_a_device_that_works_again_serves_again_and_the_one_in_its_place_makes_way(tmp_path: Path) -> None:
    run = Run(tmp_path, ["steady"], ["exit 3 then good", "good"], recovery={"retry_device_s": 0.5})
    with run.events() as heard:
        run.once(lambda: ("worker_retired", "local-1") in of_workers(heard))
    *others, retired = of_workers(heard)
    assert [event for event, worker in others if worker == "local-0"] == [
        "fallback",
        "worker_up",
        "device_retried",
    ]
    assert retired == ("worker_retired", "local-1")


@pytest.mark.deep
def test_a_device_that_fails_again_after_its_return_is_given_up_at_once_and_for_longer(tmp_path: Path) -> None:
    run = Run(tmp_path, ["steady"], ["broken", "good"], recovery={"retry_device_s": 0.5, "losses": 2})
    first = ["worker_up", "worker_lost", "worker_up", "fallback"]
    again = ["worker_up", "device_retried", "fallback"]

    def of_the_first() -> list[str]:
        return [event.event for event in heard if event.worker == "local-0" and event.event != "job_failed"]

    with run.events() as heard:
        run.once(lambda: len(of_the_first()) >= len(first + again))
    assert of_the_first()[:7] == first + again


def test_a_worker_without_memory_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    Run(tmp_path, ["steady"], ["exit 5", "good"]).until(predictions=1)
    assert "worker local-0 ran out of memory: its device exit 5 is given up" in caplog.text


def test_where_no_device_has_the_memory_the_error_says_so(tmp_path: Path) -> None:
    with pytest.raises(DeviceMemoryError, match="no worker can run"):
        Run(tmp_path, ["steady"], ["exit 5"]).until()


def test_a_slow_worker_has_five_times_what_its_warm_up_took_before_it_hangs(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    summary = Run(tmp_path, ["steady"], ["slow"], freshness={"deadline_s": 0.01}).until(predictions=5)
    assert summary["predictions"] == 5
    assert "held a job past its deadline" not in caplog.text


@pytest.mark.deep
def test_a_worker_whose_device_fails_is_started_again_and_then_replaced(tmp_path: Path) -> None:
    summary = Run(tmp_path, ["steady"], ["broken", "good"]).until(predictions=5)
    assert summary["dropped"]["device_error"] >= 3


@pytest.mark.deep
def test_answers_that_are_none_are_never_published(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    run = Run(tmp_path, ["steady"], ["not_a_number"])

    def dropped() -> float:
        found = re.search(r'edged_frames_dropped_total\{.*reason="not_finite".*\} (.*)', run.metrics())
        return float(found[1]) if found else 0

    summary = run.once(lambda: dropped() > 10)
    assert summary["predictions"] == 0
    assert summary["dropped"]["not_finite"] > 10
    assert caplog.text.count("2 outputs are NaN") == 1  # not once a frame


@pytest.mark.deep
def test_a_class_that_the_model_does_not_have_is_no_answer(tmp_path: Path) -> None:
    summary = Run(tmp_path, ["steady"], ["unknown_class", "good"]).until(predictions=3)
    assert summary["dropped"]["device_error"] >= 1


def test_a_worker_with_another_model_is_refused(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    run = Run(tmp_path, ["steady"], ["broken", "other good"])
    refusal = "worker local-1 is refused: it runs told (111111111111), this hub serves told (000000000000)"
    run.once(lambda: refusal in caplog.text)


def test_a_camera_of_another_version_is_refused(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    run = Run(tmp_path, ["old", "steady"], ["good"])
    summary = run.once(lambda: "camera old is refused: not a message of protocol" in caplog.text)
    assert "it is edged of an unknown version (protocol 0), this is edged" in caplog.text
    assert "device_error" not in summary["dropped"]  # the other camera is served


@pytest.mark.deep
def test_a_worker_that_compiles_for_long_has_no_deadline_and_the_line_says_so(tmp_path: Path) -> None:
    run = Run(tmp_path, ["short"], ["compiles"], freshness={"deadline_s": 0.1})
    summary = run.once(lambda: sum("warming up" in line for line in run.lines) > 1)  # one each second
    assert summary["captured"] == 0
    assert "worker local-0 is warming up" in run.lines[-1]


def test_a_damaged_journal_is_set_aside_and_reported(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    run = Run(tmp_path, ["short"], ["good"])
    (tmp_path / "journal.sqlite").write_bytes(b"damaged" * 1000)
    run.until()
    assert "the journal was damaged (file is not a database): it is now" in caplog.text


def test_a_journal_that_cannot_be_is_an_error_before_anything_is_started(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"journal\.path"):
        Run(tmp_path, ["short"], ["good"], journal={"path": "/proc/none/journal.sqlite"}).until()


@pytest.mark.parametrize("key", ["publish.address", "publish.replay", "metrics.address"])
def test_a_port_in_use_is_a_clear_error(tmp_path: Path, key: str) -> None:
    run = Run(tmp_path, ["short"], ["good"])
    section, name = key.split(".")
    address = json.loads(run.path.read_text())[section][name]
    with socket.socket() as occupant:
        occupant.bind(("127.0.0.1", int(address.rpartition(":")[2])))
        occupant.listen()
        with pytest.raises(ConfigError, match=rf"{key}: {address} is in use"):
            run.until()


def test_a_second_daemon_of_the_same_node_is_refused(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.sqlite", Settings(), new_services())
    with pytest.raises(ConfigError, match="in use by another edged"):
        Run(tmp_path, ["short"], ["good"]).until()
    journal.close()


def switches_of(thread: str) -> int:
    """How often the threads of this name have waited; libzmq's are named ZMQbg/IO/0, ZMQbg/IO/1 …"""
    tasks = [task for task in Path("/proc/self/task").iterdir() if (task / "comm").read_text().strip() == thread]
    assert tasks, thread
    status = "".join((task / "status").read_text() for task in tasks)
    return sum(map(int, re.findall(r"^voluntary_ctxt_switches:\s+(\d+)", status, re.MULTILINE)))


def test_pages_of_the_journal_leave_by_an_io_thread_of_their_own(tmp_path: Path) -> None:
    run = Run(tmp_path, ["steady"], ["good"])

    def fetch_pages() -> None:
        config = load_config(run.path)
        goes_on(tmp_path)
        before = switches_of("ZMQbg/IO/1")
        goes_on(tmp_path)
        assert switches_of("ZMQbg/IO/1") == before  # frames and predictions do not cross it
        with zmq.Context() as context:
            assert list(fetch(context, config.publish.replay, ReplayRequest()))
        assert switches_of("ZMQbg/IO/1") > before

    while_it_runs(run, tmp_path, fetch_pages)
