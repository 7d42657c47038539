"""NumPy answers while the worker before it compiles kernels."""

import os
import signal
from pathlib import Path

import pytest

from tests.eventually import eventually
from tests.hub.running import LOAD_DROPS, PATIENT, Run, child, goes_on, of_workers, while_it_runs


def test_numpy_answers_until_the_kernels_are_compiled_and_no_frame_is_lost(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run = Run(tmp_path, ["steady"], ["compiles", "numpy"], freshness=PATIENT)
    caplog.set_level("INFO")

    def starts() -> None:
        eventually(lambda: ("stand_in", "local-1") in of_workers(heard))
        assert "edged_fallback 0.0" in run.metrics()
        (tmp_path / "compiled").touch()
        eventually(lambda: ("worker_retired", "local-1") in of_workers(heard))
        goes_on(tmp_path)

    with run.events() as heard:
        while_it_runs(run, tmp_path, starts)

    assert [event for event in of_workers(heard) if event[0] != "worker_up"] == [
        ("stand_in", "local-1"),
        ("stand_in_ended", "local-0"),
        ("worker_retired", "local-1"),
    ]
    assert "local-0 is still starting device compiles: local-1 (device numpy) answers until it" in caplog.text
    assert "device compiles has started: worker local-0 serves" in caplog.text
    assert set(run.summary["dropped"]) <= LOAD_DROPS


def test_numpy_goes_on_where_the_device_fails_while_it_starts(tmp_path: Path) -> None:
    run = Run(tmp_path, ["steady"], ["compiles", "numpy"], recovery={"losses": 1})

    def fails() -> None:
        os.kill(child("worker", "0").pid, signal.SIGKILL)
        eventually(lambda: ("fallback", "local-0") in of_workers(heard))
        eventually(lambda: "edged_fallback 1.0" in run.metrics())
        goes_on(tmp_path)

    with run.events() as heard:
        while_it_runs(run, tmp_path, fails)


def test_numpy_answers_until_the_next_device_has_started_where_the_first_one_fails(tmp_path: Path) -> None:
    run = Run(tmp_path, ["steady"], ["compiles", "good", "numpy"], recovery={"losses": 1})

    def fails() -> None:
        eventually(lambda: ("stand_in", "local-2") in of_workers(heard))
        os.kill(child("worker", "0").pid, signal.SIGKILL)
        eventually(lambda: ("worker_retired", "local-2") in of_workers(heard))

    with run.events() as heard:
        while_it_runs(run, tmp_path, fails)

    assert [event for event in of_workers(heard) if event[0] != "worker_up"] == [
        ("stand_in", "local-2"),
        ("fallback", "local-0"),
        ("stand_in_ended", "local-1"),
        ("worker_retired", "local-2"),
    ]


def test_a_device_that_has_kernels_to_compile_does_not_stand_in(tmp_path: Path) -> None:
    run = Run(tmp_path, ["steady"], ["compiles", "good"], recovery={"start_s": 3})

    with run.events() as heard:
        run.once(lambda: "worker_up" in dict(of_workers(heard)))

    assert [event for event, _ in of_workers(heard)] == ["fallback", "worker_up"]
