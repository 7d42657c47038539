"""What a tuner writes down, and what is left of it however it ends."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from edged.engine.device import Device
from edged.engine.selection import Rules
from edged.engine.tuning.attempt_log import AttemptLog
from edged.engine.tuning_records import BestVariant
from edged.errors import ConfigError
from tests.engine.tuning.sites import conv_site

DIES = """
import os, sys
from pathlib import Path
from edged.engine.device import list_devices
from edged.engine.selection import Rules
from edged.engine.tuning.attempt_log import AttemptLog
from tests.engine.tuning.sites import conv_site

device = list_devices()[0]
site = conv_site(device)
with AttemptLog(Path(sys.argv[1]), device) as attempts, attempts.trying(site, Rules().choose(site)):
    os.kill(os.getpid(), int(sys.argv[2]))
"""
HANGS = """
import sys
from edged.engine.device import list_devices
from edged.engine.selection import Rules
from edged.engine.tuning.attempt_log import watchdog
from tests.engine.tuning.sites import conv_site

with watchdog(Rules().choose(conv_site(list_devices()[0])), patience_s=0.01):
    sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tuned" / "board.json"


def test_what_a_killed_tuner_was_trying_is_refused(path: Path, device: Device) -> None:
    died = subprocess.run([sys.executable, "-c", DIES, path, str(int(signal.SIGKILL))], check=False)
    site = replace(conv_site(device), device=device)
    with AttemptLog(path, device) as attempts:
        [refusal] = attempts.attempts_for(site).refused

    assert died.returncode == -signal.SIGKILL
    assert (refusal.variant, refusal.reason) == (Rules().choose(site).variant.name, "unfinished")
    with AttemptLog(path, device) as attempts:
        assert attempts.attempts_for(site).refused == (refusal,)


def test_what_ctrl_c_broke_off_is_not(path: Path, device: Device) -> None:
    died = subprocess.run(
        [sys.executable, "-c", DIES, path, str(int(signal.SIGINT))], capture_output=True, check=False
    )
    with AttemptLog(path, device) as attempts:
        assert attempts.attempts_for(conv_site(device)).refused == ()
    assert died.returncode == -signal.SIGINT


def test_a_record_has_one_tuner_at_a_time(path: Path, device: Device) -> None:
    with AttemptLog(path, device), pytest.raises(ConfigError, match=f"{path} is in use by another `edged tune`"):
        AttemptLog(path, device)
    with AttemptLog(path, device) as attempts:
        assert attempts.attempts_for(conv_site(device)).refused == ()


def test_shapes_are_forgotten_by_name_of_their_sites(path: Path, device: Device) -> None:
    one, other = conv_site(device), conv_site(device, outputs=3)
    best = BestVariant(variant="conv_naive", parameters={}, seconds=1)
    with AttemptLog(path, device) as attempts:
        for site in (one, other):
            attempts.write(attempts.attempts_for(site).model_copy(update={"best": best}))
        attempts.forget([conv_site(device, name="twin")])

        assert (attempts.attempts_for(one).best, attempts.attempts_for(other).best) == (None, best)


def test_a_damaged_record_is_not_written_over(path: Path, device: Device) -> None:
    path.parent.mkdir()
    path.write_text("{")

    with pytest.raises(ConfigError, match=f"{path}: Invalid JSON"):
        AttemptLog(path, device)
    assert path.read_text() == "{"


def test_a_call_that_never_returns_ends_the_process_and_names_the_candidate() -> None:
    hung = subprocess.run(
        [sys.executable, "-c", HANGS], stdin=(pipe := os.pipe())[0], capture_output=True, text=True, check=False
    )
    for end in pipe:
        os.close(end)

    assert hung.returncode == 3
    assert "conv_" in hung.stderr
    assert "hangs" in hung.stderr
