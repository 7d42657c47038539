"""A device that is wrong from its start publishes nothing that is wrong."""

import json
from pathlib import Path

import pytest

from tests.e2e.daemon import START_S, Daemon, config_in, conserves, run_edged
from tests.e2e.faulty_worker import break_worker
from tests.engine.wrong_kernels import RELU_IS_MIN, WRONG_VECTOR, Change
from tests.eventually import eventually


def break_kernel(change: Change, monkeypatch: pytest.MonkeyPatch) -> None:
    break_worker(monkeypatch, "EDGED_TEST_WRONG_KERNEL", json.dumps(change))


def device_of(daemon: Daemon) -> str:
    """What the first prediction was made on, once all has compiled."""
    eventually(lambda: "is ready: small" in daemon.log(), 4 * START_S)
    return daemon.first(1)[0].model.device


@pytest.mark.deep
def test_the_next_device_serves_where_every_variant_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_kernel(RELU_IS_MIN, monkeypatch)
    workers = [{"device": "cpu"}, {"device": "numpy"}]
    with run_edged(tmp_path, config=config_in(tmp_path, workers=workers)) as daemon:
        assert device_of(daemon) == "NumPy"
        eventually(lambda: "local-1 (device numpy) takes over" in daemon.log(), 4 * START_S)
        assert "wrongly by every variant" in daemon.log()
        assert conserves(daemon.stop())


@pytest.mark.deep
def test_the_device_serves_by_another_variant_and_the_event_names_the_wrong_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_kernel(WRONG_VECTOR, monkeypatch)
    with run_edged(tmp_path, config=config_in(tmp_path, workers=[{"device": "cpu"}])) as daemon:
        assert device_of(daemon) != "NumPy"
        assert "its device computes wrongly, and is used without: conv_vector for Conv 3×16×16" in daemon.log()
        assert conserves(daemon.stop())


@pytest.mark.deep
def test_the_next_device_serves_where_the_comparison_itself_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_worker(monkeypatch, "EDGED_TEST_FAULTY_PROOF", "cannot reshape array of size 5")
    workers = [{"device": "cpu"}, {"device": "numpy"}]
    without_proofs = tmp_path / "cache"
    with run_edged(tmp_path, config=config_in(tmp_path, workers=workers), programs=without_proofs) as daemon:
        assert device_of(daemon) == "NumPy"
        eventually(lambda: "local-1 (device numpy) takes over" in daemon.log(), 4 * START_S)
        assert "ValueError: cannot reshape array of size 5" in daemon.log()
        assert "Traceback" not in daemon.log()
        assert conserves(daemon.stop())
