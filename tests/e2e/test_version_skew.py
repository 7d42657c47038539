"""Another edged is installed under a hub that runs: the next child is of that version, the one after it is not."""

from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.e2e.daemon import config_in, run_edged
from tests.e2e.witness import RawSubscriber
from tests.eventually import eventually


@pytest.mark.deep
@pytest.mark.parametrize("verb", ["camera", "worker"])
def test_a_child_of_another_version_is_refused_and_the_next_one_serves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    skew = tmp_path / "skew"
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "tests" / "e2e" / "endless_kernel"), prepend=":")
    monkeypatch.setenv("EDGED_TEST_SKEW", str(skew))
    with run_edged(tmp_path, config=config_in(tmp_path)) as daemon:
        raw = RawSubscriber(daemon.address)
        raw.start()
        try:
            eventually(lambda: raw.seen)
            skew.touch()
            daemon.child(verb).kill()
            (refused,) = eventually(lambda: [each for each in raw.events if each["event"] == "refused"])
            assert "(protocol 999), this is edged" in str(refused["message"])
            before = len(raw.seen)
            eventually(lambda: len(raw.seen) > before + 20)
        finally:
            raw.stop()
        assert [each for each in raw.events if each["event"] == "camera_ended"] == []
