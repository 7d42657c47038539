"""`edged run` in a real terminal: rows of status below the lines that scroll."""

import json
import re
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.e2e.daemon import PATIENT, SYNTHETIC, config_in
from tests.e2e.terminal import Terminal, edged_in_a_terminal
from tests.eventually import eventually

TITLE = "edged  test"
LINE = re.compile(r"\d\d:\d\d:\d\d .*| {9}\S.*|(stream|metrics|page) .*|")
SUMMARY = re.compile(r"\d+ predictions of \d+ frames in .*")
AS_LINES = re.compile(r"demo +\S+ fps .* dropped \d.*")


def arguments(folder: Path, **sections: Any) -> tuple[list[str], dict[str, str]]:
    """Of `edged run`, and its environment."""
    path = folder / "edged.yaml"
    # no warning of a slow disk: it has a path, which the terminal cuts anywhere
    waits = {"journal": {"max_wait_s": 10}, "freshness": PATIENT}
    path.write_text(json.dumps(config_in(folder, **waits, **sections)))
    return ["run", str(path)], {"XDG_STATE_HOME": str(folder)}


def below(rows: list[str]) -> list[str]:
    """The rows of status, of which there must be no remains elsewhere; none while a line has just come."""
    starts = [place for place, row in enumerate(rows) if row.startswith(TITLE)]
    assert len(starts) < 2, "\n".join(rows)
    above = rows[: starts[0]] if starts else rows
    assert not [row for row in above if not LINE.fullmatch(row)], "\n".join(rows)
    return rows[starts[0] :] if starts else []


def predictions(terminal: Terminal) -> int:
    found = re.search(r"([\d,]+) predictions of", "\n".join(below(terminal.rows())))
    return int(found[1].replace(",", "")) if found else 0


def test_the_status_stays_below_the_lines_and_ends_with_the_run(tmp_path: Path) -> None:
    command, environment = arguments(tmp_path)
    with edged_in_a_terminal(*command, **environment) as terminal:
        shown = eventually(lambda: predictions(terminal))
        eventually(lambda: predictions(terminal) > shown + 40)
        rows = terminal.rows() if predictions(terminal) else terminal.shows(TITLE)
        assert all(len(row) < 80 for row in rows)
        assert "1 of 1 cameras up" in next(row for row in rows if row.startswith(TITLE))
        assert [row for row in rows if re.match(r"demo +up +\d+\.\d .* \d+%", row)]
        assert [row for row in rows if row.startswith("workers  local-0 serving: NumPy")]

        terminal.press("\x03")
        assert terminal.end() == 0
        rows = terminal.rows()
        assert [row for row in rows if SUMMARY.fullmatch(row)], "\n".join(rows)
        assert not [row for row in rows if row.startswith((TITLE, "CAMERA"))]
        assert terminal.settings == terminal.settings_before
    assert b"\x1b[?" not in terminal.written  # no mode of the terminal was changed: none must be restored
    assert b"Traceback" not in terminal.written


@pytest.mark.deep
def test_lines_of_all_processes_stand_above_it(tmp_path: Path) -> None:
    command, environment = arguments(tmp_path)
    with edged_in_a_terminal(*command, **environment) as terminal:
        eventually(lambda: predictions(terminal))
        for child in psutil.Process(terminal.process.pid).children():
            child.kill()
        rows = terminal.shows("worker local-0 was killed by SIGKILL", "camera demo")
        assert rows
        shown = predictions(terminal)
        eventually(lambda: predictions(terminal) > shown)


@pytest.mark.deep
def test_it_follows_the_size_of_the_terminal(tmp_path: Path) -> None:
    cameras = {f"camera-{number}": {**SYNTHETIC, "fps": 2} for number in range(12)}
    command, environment = arguments(tmp_path, cameras=cameras)
    with edged_in_a_terminal(*command, **environment) as terminal:
        terminal.shows("12 of 12 cameras up", "1 more camera ")
        terminal.resize(50, 12)
        rows = eventually(lambda: narrow(terminal, 50))
        assert any(row.startswith("9 more cameras") for row in rows)
        assert terminal.process.poll() is None


def narrow(terminal: Terminal, columns: int) -> list[str]:
    """The rows of status, once they are no wider than this."""
    rows = terminal.rows()
    title = next((place for place, row in enumerate(rows) if row.startswith(TITLE)), None)
    drawn = rows[title:] if title is not None else []
    return drawn if drawn and all(len(row) < columns for row in drawn) and "more cameras" in drawn[-1] else []


@pytest.mark.deep
@pytest.mark.parametrize("reason", ["quiet", "dumb", "json log"])
def test_elsewhere_it_prints_lines(tmp_path: Path, reason: str) -> None:
    command, environment = arguments(tmp_path, **({"log": {"format": "json"}} if reason == "json log" else {}))
    environment |= {"TERM": "dumb"} if reason == "dumb" else {}
    quiet = ["--quiet"] if reason == "quiet" else []
    with edged_in_a_terminal(*command, *quiet, **environment) as terminal:
        eventually(lambda: any(AS_LINES.fullmatch(row) for row in terminal.rows()))
        terminal.press("\x03")
        assert terminal.end() == 0
        assert b"\x1b" not in terminal.written


@pytest.mark.deep
def test_without_colours_it_has_none(tmp_path: Path) -> None:
    command, environment = arguments(tmp_path)
    with edged_in_a_terminal(*command, **environment, NO_COLOR="1") as terminal:
        eventually(lambda: predictions(terminal))
    assert not re.search(rb"\x1b\[[0-9;]*3[0-7]m", terminal.written)
