"""The life of the package on a machine, in this order. Started by tests/deploy/deb/test_machine.py alone."""

import json
import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.eventually import eventually

os.environ["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"  # the package's edged, not that of the checkout's environment
FIRST, SECOND = sorted(Path("/opt/packages").glob("*.deb"))
CONFIG, STATE, PREFIX = Path("/etc/edged/edged.yaml"), Path("/var/lib/edged"), Path("/opt/edged")
SERVED = {
    "node": "machine",
    "cameras": {"demo": {"source": "synthetic:digits", "size": [160, 120], "fps": 10}},
    "workers": [{"device": "numpy"}],
}
KEPT = Path("/opt/checkout/tests/state/versions/0.1.0")  # what a node has taught, and tuning
START_S = 120.0


def run(*command: str | Path, code: int = 0) -> str:
    """Run a command; return what it printed, if it ends with this code."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == code, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def prop(name: str) -> str:
    """Return a property of edged.service."""
    return run("systemctl", "show", "edged", f"--property={name}", "--value").strip()


def newest_seq() -> int:
    """Return the number of the next prediction."""
    line = subprocess.check_output(["edged", "subscribe", "--json", "--count", "1"], timeout=60, text=True)
    return int(json.loads(line)["seq"])


def content_of(*folders: Path) -> dict[Path, bytes]:
    """Return the bytes of every file below."""
    return {path: path.read_bytes() for folder in folders for path in folder.rglob("*") if path.is_file()}


def modules() -> tuple[set[str], set[str]]:
    """Return the modules of edged itself: those that are installed, and those of them that are compiled."""
    package = next((PREFIX / "lib").glob("python3.*/site-packages/edged"))
    compiled = {path.name.partition(".")[0] for path in package.glob("__pycache__/*")}
    return {path.stem for path in package.glob("*.py")}, compiled


@contextmanager
def on_a_full_disk(folder: Path) -> Iterator[None]:
    """Put the folder on a disk of its own that has 10 MB left; what happens to it there ends with the block."""
    copy = Path("/root/copy")
    run("cp", "-a", folder, copy)
    megabytes = int(run("du", "-sm", copy).split()[0])
    run("mount", "-t", "tmpfs", "-o", f"size={megabytes + 10}m,mode=755", "none", folder)
    try:
        run("cp", "-a", f"{copy}/.", folder)
        yield
    finally:
        run("umount", "--lazy", folder)
        shutil.rmtree(copy)


def test_it_installs_and_classifies_without_a_network() -> None:
    run("dpkg", "--install", FIRST)

    summary = json.loads(subprocess.check_output(["edged", "demo", "--count", "20", "--json"], timeout=200))

    assert (summary["predictions"], summary["accuracy"]) == (20, 1.0)
    assert not run("dpkg", "--verify", "edged")
    assert pwd.getpwnam("edged").pw_dir == "/var/lib/edged"


def test_its_modules_are_compiled_for_the_user_who_may_not_write_them() -> None:
    installed, compiled = modules()
    assert compiled == installed


def test_the_service_starts_and_publishes() -> None:
    CONFIG.write_text(json.dumps(SERVED))

    run("systemctl", "enable", "--now", "edged")

    assert newest_seq() >= 0  # it may be the first


def test_an_upgrade_for_which_the_disk_is_too_small_leaves_the_version_before() -> None:
    hub = prop("MainPID")

    with on_a_full_disk(PREFIX):
        said = run("dpkg", "--install", SECOND, code=1)

        assert "No space left on device" in said
        state = run("dpkg-query", "--show", "--showformat=${Version} ${db:Status-Abbrev}", "edged")
        assert state == f"{FIRST.name.split('_')[1]} ii "
        assert str(PREFIX) not in run("dpkg", "--verify", "edged")  # every file is whole
        assert run("edged", "--version").startswith("edged 0.1.0")
        installed, compiled = modules()
        assert compiled == installed
    assert prop("MainPID") == hub


def test_an_upgrade_restarts_it_and_keeps_config_journal_taught_versions_and_tuning() -> None:
    taught, tuned = STATE / "machine/teach", STATE / "tuned"
    shutil.copytree(KEPT / "board/teach", taught)
    shutil.copytree(KEPT / "tuned", tuned)
    run("chown", "--recursive", "edged:edged", taught, tuned)
    kept = content_of(taught, tuned)
    before, hub = newest_seq(), prop("MainPID")

    said = run("dpkg", "--install", SECOND)

    assert "compiling the kernels of this version; until then the version before goes on" in said
    assert run("systemctl", "show", "edged-compile", "--property=Result", "--value").strip() == "success"
    eventually(lambda: prop("ActiveState") == "active" and prop("MainPID") != hub, START_S)
    assert json.loads(CONFIG.read_text()) == SERVED
    assert len(kept) == 9
    assert content_of(taught, tuned) == kept
    assert newest_seq() > before
    lines = subprocess.check_output(["edged", "subscribe", "--since", "1h", "--json", "--count", "5"], timeout=60)
    assert json.loads(lines.splitlines()[0])["seq"] <= before  # of the daemon before the upgrade


def test_an_upgrade_with_a_config_that_is_wrong_leaves_the_daemon_running_and_reports_it() -> None:
    CONFIG.write_text("cameras: {demo: {sauce: 0}}\n")
    hub = prop("MainPID")

    said = run("dpkg", "--install", SECOND)

    assert "sauce" in said
    assert "the running daemon is not restarted, since it could not read its config" in said
    assert (prop("ActiveState"), prop("MainPID")) == ("active", hub)
    CONFIG.write_text(json.dumps(SERVED))
    run("systemctl", "restart", "edged")
    assert newest_seq() >= 0  # it may be the first


def test_a_damaged_installation_is_named_and_mended_by_another() -> None:
    module = next((PREFIX / "lib").glob("python3.*/site-packages/edged/errors.py"))
    compiled = list(module.parent.glob("__pycache__/errors.*"))
    for path in (module, *compiled):
        path.unlink()

    assert "edged: its package is damaged: No module named 'edged.errors'. Install it again" in run(
        "edged", "check", code=1
    )
    assert str(module) in run("dpkg", "--verify", "edged")
    run("dpkg", "--install", SECOND)
    assert run("edged", "--version").startswith("edged 0.1.0")


def test_its_removal_stops_the_service_and_keeps_what_is_not_the_packages() -> None:
    run("systemctl", "enable", "edged-bridge@mqtt")

    run("dpkg", "--remove", "edged")

    assert prop("ActiveState") == "inactive"
    assert not list(Path("/etc/systemd/system").glob("*.wants/edged*"))
    assert not PREFIX.exists()
    assert not Path("/usr/bin/edged").is_symlink()
    assert json.loads(CONFIG.read_text()) == SERVED
    assert list(STATE.glob("**/*.sqlite"))
    assert list(STATE.glob("**/promoted.json"))


def test_a_removal_goes_through_where_its_files_are_gone() -> None:
    run("dpkg", "--install", SECOND)
    shutil.rmtree(PREFIX)

    run("dpkg", "--remove", "edged")

    assert "deinstall" in run("dpkg-query", "--show", "--showformat=${Status}", "edged")


def test_a_purge_leaves_nothing_but_the_user() -> None:
    run("dpkg", "--purge", "edged")

    left = [path for path in (CONFIG.parent, STATE, Path("/var/cache/edged"), PREFIX) if path.exists()]
    assert not left
    assert pwd.getpwnam("edged")
