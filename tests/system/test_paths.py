"""Where files are kept, also by a user without a home, as in many containers."""

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT

PRINT = "from edged.system.paths import state_directory; print(state_directory())"
NOBODY_HERE = 54321


@pytest.mark.parametrize(
    ("variables", "place"),
    [
        ({"STATE_DIRECTORY": "/srv/state:/srv/other"}, "/srv/state"),
        ({"XDG_STATE_HOME": "/srv/state"}, "/srv/state/edged"),
        ({"HOME": "/srv/home"}, "/srv/home/.local/state/edged"),
    ],
)
def test_a_folder_that_is_given_needs_no_home(variables: dict[str, str], place: str) -> None:
    assert _state_directory(variables) == (0, place)


def test_without_a_home_it_is_one_clear_line() -> None:
    code, last = _state_directory({})
    assert code != 0
    assert last.endswith(f"user {NOBODY_HERE} has no home: set HOME, or STATE_DIRECTORY to a folder")


def _state_directory(variables: dict[str, str]) -> tuple[int, str]:
    """The exit code and the last line of a process that prints the folder, as a user whom no file knows."""
    if os.geteuid():
        pytest.skip("no systemd-nspawn here: another user takes root")
    as_nobody = f"import os; os.setuid({NOBODY_HERE}); {PRINT}"
    done = subprocess.run(
        [sys.executable, "-c", f"import edged.system.paths; {as_nobody}"],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(ROOT), **variables},
    )
    return done.returncode, (done.stdout + done.stderr).splitlines()[-1]
