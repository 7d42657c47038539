"""A reload reads all that the config is from: its drop-ins too."""

import os
import signal
from pathlib import Path

import pytest

from tests.eventually import eventually
from tests.hub.running import Run, goes_on, while_it_runs


def test_a_drop_in_that_is_added_is_applied_and_one_that_contradicts_it_is_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    run = Run(tmp_path, ["steady"], ["good"])
    drop_ins = run.path.with_suffix(".d")

    def add(name: str, text: str) -> None:
        drop_ins.mkdir(exist_ok=True)
        (drop_ins / name).write_text(text)
        os.kill(os.getpid(), signal.SIGHUP)

    def reload_with_drop_ins() -> None:
        add("10-site.yaml", "publish: {top: 1}")
        eventually(lambda: "is applied: settings: publish.top" in caplog.text)
        add("20-board.yaml", "publish: {top: 2}")
        eventually(lambda: f"contradicts {drop_ins}/10-site.yaml:1" in caplog.text)
        goes_on(tmp_path)

    while_it_runs(run, tmp_path, reload_with_drop_ins)
    assert "the present config stays in use" in caplog.text
