"""What must hold of the service on a machine of its own. Started by tests/systemd/test_machine.py alone."""

import json
import os
import platform
import pwd
import signal
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.eventually import eventually
from tests.given_time import GivenTime
from tests.systemd.inside.unit import (
    CONFIG,
    DROP_IN,
    STUCK,
    hub,
    journal,
    kill,
    prop,
    say,
    start,
    systemctl,
    teach,
    text,
    wait_for,
    wait_until_ready_again,
)

PROGRAMS = Path("/var/cache/edged/programs")
KILLS = int(os.environ.get("EDGED_KILLS", "100"))


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    before = CONFIG.read_text()
    yield
    CONFIG.write_text(before)
    STUCK.unlink(missing_ok=True)
    DROP_IN.unlink(missing_ok=True)
    systemctl("daemon-reload")


def test_it_is_active_only_once_the_worker_is_warm_and_says_so() -> None:
    since = start()
    assert "worker local-0 is ready" in text(since)
    assert "small on" in prop("StatusText")
    eventually(lambda: "1 of 1 cameras up" in prop("StatusText"))


def test_hub_and_children_run_as_their_user_without_privileges_and_under_the_filter() -> None:
    start()
    family = [psutil.Process(hub()), *psutil.Process(hub()).children()]
    assert len(family) == 3
    for process in family:
        told = dict(line.split(":\t") for line in Path(f"/proc/{process.pid}/status").read_text().splitlines())
        assert process.username() == "edged"
        assert (told["NoNewPrivs"], told["Seccomp"]) == ("1", "2")
        assert int(told["CapEff"], 16) == int(told["CapBnd"], 16) == 0


@pytest.mark.skipif(not list(Path("/etc/OpenCL/vendors").glob("*.icd")), reason="no OpenCL runtime is installed")
def test_opencl_works_hardened_though_no_memory_may_be_written_and_executed() -> None:
    config = json.loads(CONFIG.read_text())
    CONFIG.write_text(json.dumps({**config, "workers": [{"device": "auto"}]}))
    since = start()
    assert "on numpy" not in prop("StatusText").lower(), text(since)
    assert prop("MemoryDenyWriteExecute") == "yes"


@pytest.mark.skipif(not list(Path("/etc/OpenCL/vendors").glob("*.icd")), reason="no OpenCL runtime is installed")
def test_what_is_compiled_ahead_of_a_start_is_in_the_cache_of_the_service() -> None:
    systemctl("stop", "edged")
    config = json.loads(CONFIG.read_text())
    CONFIG.write_text(json.dumps({**config, "model": {"name": "digits"}, "workers": [{"device": "cpu"}]}))
    before = set(PROGRAMS.glob("*"))
    assert systemctl("start", "edged-compile").returncode == 0
    compiled = set(PROGRAMS.glob("*")) - before
    assert {path.stat().st_uid for path in compiled} == {pwd.getpwnam("edged").pw_uid}
    since = start()
    assert "compiling" not in text(since)
    assert "on numpy" not in prop("StatusText").lower(), text(since)


def test_the_journal_knows_what_is_an_event_and_what_a_warning() -> None:
    since = start()
    next(child for child in psutil.Process(hub()).children() if "worker" in child.cmdline()).kill()
    wait_for("was killed by SIGKILL", since)
    levels = {str(entry["MESSAGE"]): entry["PRIORITY"] for entry in journal(since)}
    assert next(level for message, level in levels.items() if "was killed by SIGKILL" in message) == "4"
    assert next(level for message, level in levels.items() if "worker local-0 is ready" in message) == "6"


@pytest.mark.promise("a stop drains within 2 s")
def test_stop_drains_within_two_seconds_and_is_no_failure() -> None:
    start()
    given = GivenTime()
    assert systemctl("stop", "edged").returncode == 0
    assert given.seconds() < 2.5  # systemctl itself included
    assert (prop("Result"), prop("ExecMainStatus")) == ("success", "0")


def test_a_reload_is_applied_and_a_bad_config_leaves_the_old_one_running() -> None:
    since, config, pid = start(), json.loads(CONFIG.read_text()), hub()
    CONFIG.write_text(json.dumps({**config, "cameras": {**config["cameras"], "gate": config["cameras"]["demo"]}}))
    assert systemctl("reload", "edged").returncode == 0
    wait_for("cameras added: gate", since)
    CONFIG.write_text(json.dumps({**config, "cameras": 1}))
    assert systemctl("reload", "edged").returncode != 0
    assert (prop("ActiveState"), hub()) == ("active", pid)
    assert "cameras" in text(since)


def test_sighup_reloads_too_and_ends_in_ready() -> None:
    since = start()
    pid = kill(signal.SIGHUP)
    wait_for("is applied: nothing has changed", since)
    eventually(lambda: (prop("ActiveState"), hub()) == ("active", pid))


def test_a_hub_that_stands_still_is_aborted_with_its_stacks_and_started_again() -> None:
    say("WatchdogSec=3")
    since = start()
    pid = kill(signal.SIGSTOP)
    wait_until_ready_again(pid)
    assert "Watchdog timeout" in text(since)
    assert "Fatal Python error: Aborted" in text(since)


def test_a_pipeline_that_has_stuck_is_found_out_though_the_loop_turns() -> None:
    program = "/opt/edged/bin/python -m tests.systemd.inside.stuck_when_told"
    say(f"WatchdogSec=3\nExecStart=\nExecStart={program} run {CONFIG}")
    since, pid = start(), hub()
    eventually(lambda: "1 of 1 cameras up" in prop("StatusText"))
    STUCK.touch()
    eventually(lambda: hub() != pid)
    STUCK.unlink()
    wait_until_ready_again(pid)
    assert "Watchdog timeout" in text(since)


def test_its_user_teaches_it_and_what_was_promoted_answers_after_a_start_too() -> None:
    since = start()
    for label in ("open", "closed"):
        teach("record", "--camera", "demo", "--label", label, "--count", "8", "--duration", "30")
    teach("train")
    teach("promote", "--force")  # crops of the same scenes under two labels: nobody can tell them apart
    wait_for("answers from prediction", since)
    since = start()
    assert "taught version" in text(since)
    teach("rollback")


def test_a_config_that_is_wrong_is_not_tried_for_ever() -> None:
    systemctl("stop", "edged")
    CONFIG.write_text("cameras: 1")
    systemctl("start", "edged")
    assert (prop("ActiveState"), prop("ExecMainStatus")) == ("failed", "78")
    systemctl("reset-failed", "edged")


def test_a_worker_and_a_camera_unit_become_active_with_the_hub_and_wait_for_the_next() -> None:
    config = json.loads(CONFIG.read_text())
    config["cameras"] = {"yard": {**config["cameras"]["demo"], "host": "yard-pi"}}
    config["workers"] = [{"device": "numpy", "host": platform.node()}]
    CONFIG.write_text(json.dumps({**config, "link": {"address": "tcp://127.0.0.1:5572"}}))
    others = ("edged-worker", "edged-camera@yard")
    systemctl("stop", "edged")
    systemctl("start", "--no-block", *others)
    eventually(lambda: props("StatusText", others) == ["waits for its hub"] * 2)
    assert props("ActiveState", others) == ["activating"] * 2
    start()
    eventually(lambda: props("ActiveState", others) == ["active"] * 2)
    wait_until_ready_again(kill(signal.SIGKILL))
    eventually(lambda: "1 of 1 cameras up" in prop("StatusText"))
    assert props("NRestarts", others) == ["0"] * 2
    assert systemctl("stop", *others).returncode == 0


def props(name: str, units: Iterable[str]) -> list[str]:
    return [prop(name, unit) for unit in units]


def test_killed_again_and_again_it_is_ready_each_time() -> None:
    start()
    took = []
    for _ in range(KILLS):
        begun = time.monotonic()
        pid = kill(signal.SIGKILL)
        wait_until_ready_again(pid)
        took.append(time.monotonic() - begun)
    print(f"ready again after {sum(took) / len(took):.2f} s on average, {max(took):.2f} s at most")
    assert systemctl("stop", "edged").returncode == 0
    assert not [each for each in psutil.process_iter() if each.username() == "edged"]
