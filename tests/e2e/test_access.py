"""Who gets in, at a real daemon with keys."""

import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from edged.transport.client_socket import NO_KEY, UNKNOWN, WRONG_HUB, curve_of
from edged.transport.keys import new_pair
from edged.view.listener import listening as listening_for
from edged.view.watcher import Watcher
from tests.cli.command import edged
from tests.e2e.daemon import Daemon, config_in, run_edged
from tests.e2e.daemon_use import listening, rejected, reload
from tests.eventually import eventually, free_port

pytestmark = pytest.mark.deep


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A hub with keys that knows alice; there are keys of mallory's and of another hub's too."""
    folder = tmp_path_factory.mktemp("access")
    (folder / "allowed").mkdir()
    for name, place in {"hub": "", "other": "", "mallory": "", "alice": "allowed"}.items():
        new_pair(folder / place, name)
    config = config_in(folder, security={"key": "hub.key", "allow": ["allowed"]})
    with run_edged(folder, config=config) as daemon:
        keys = {"key": folder / "allowed/alice.key", "server_key": folder / "hub.pub"}
        daemon.first(1, **keys)
        yield daemon


def keys_of(daemon: Daemon, name: str = "allowed/alice", hub: str = "hub") -> dict[str, Path]:
    return {"key": daemon.folder / f"{name}.key", "server_key": daemon.folder / f"{hub}.pub"}


def test_who_has_a_key_that_is_allowed_gets_the_stream_and_what_was_before(daemon: Daemon) -> None:
    first, *_, last = daemon.first(20, since_s=3600, **keys_of(daemon))
    assert last.seq == first.seq + 19


def test_the_command_takes_the_keys(daemon: Daemon) -> None:
    keys = keys_of(daemon)
    arguments = ("--key", keys["key"], "--server-key", keys["server_key"], "--count", 2)
    assert len(edged("subscribe", daemon.address, *arguments).stdout.splitlines()) == 2
    half = edged("subscribe", daemon.address, "--key", keys["key"])
    assert half.returncode == 2
    assert "belong together" in half.stderr


def test_a_view_shows_what_its_key_lets_it_see_or_why_it_sees_nothing(daemon: Daemon) -> None:
    watchers = Watcher(daemon.address), Watcher(daemon.address)
    with listening_for(watchers[0], curve_of(**keys_of(daemon))), listening_for(watchers[1]):
        eventually(watchers[0].newest)
        eventually(lambda: watchers[1].refusal == NO_KEY)
    assert watchers[0].refusal == ""
    assert watchers[1].node_state(time.monotonic()).stale


@pytest.mark.parametrize(
    ("name", "hub", "reason", "told"),
    [
        ("mallory", "hub", "unknown_key", UNKNOWN),
        ("allowed/alice", "other", "wrong_server_key", WRONG_HUB),
        (None, None, "no_key", NO_KEY),
    ],
)
def test_who_has_not_hears_why_and_is_counted_and_logged_with_the_address(
    daemon: Daemon, caplog: pytest.LogCaptureFixture, name: str | None, hub: str, reason: str, told: str
) -> None:
    keys = keys_of(daemon, name, hub) if name else {}
    with listening(daemon, **keys) as got:
        eventually(lambda: told in caplog.text)
        eventually(lambda: rejected(daemon, reason) > 0)  # who hangs up first differs from try to try
        # A connection that ends before the guard sees it has no address: the next try may have one.
        eventually(lambda: "publish.address: a peer at 127.0.0.1 was rejected" in daemon.log())
    assert not got


def test_a_key_that_is_allowed_later_works_at_once_and_one_that_is_removed_is_cut_off(daemon: Daemon) -> None:
    allowed = daemon.folder / "allowed/mallory.pub"
    with listening(daemon, **keys_of(daemon, "mallory")) as got:
        before = rejected(daemon, "unknown_key")
        eventually(lambda: rejected(daemon, "unknown_key") > before)
        assert not got
        allowed.write_text((daemon.folder / "mallory.pub").read_text())
        reload(daemon)
        eventually(lambda: len(got) > 5)
        allowed.unlink()
        before = rejected(daemon, "unknown_key")
        reload(daemon)
        eventually(lambda: rejected(daemon, "unknown_key") > before)
        last = got[-1]
        assert daemon.first(20, **keys_of(daemon))  # alice was cut off too, and is back
        assert got[-1] == last


def test_a_reload_with_a_key_file_that_is_none_changes_nothing(daemon: Daemon) -> None:
    bad = daemon.folder / "allowed/bad.pub"
    bad.write_text("no key")
    assert "bad.pub: expected a public key" in reload(daemon)[1]
    bad.unlink()
    assert daemon.first(1, **keys_of(daemon))


def test_a_journal_of_a_daemon_with_keys_is_for_its_user_alone(daemon: Daemon) -> None:
    folder = daemon.folder / "edged" / "test"
    modes = {stat.S_IMODE(each.stat().st_mode) for each in folder.glob("journal.sqlite*")}
    assert modes == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_an_address_beyond_this_host_is_open_with_keys_and_said_to_be_insecure_without(tmp_path: Path) -> None:
    ports = {key: f"tcp://0.0.0.0:{free_port()}" for key in ("address", "replay")}
    with run_edged(tmp_path, config=config_in(tmp_path, publish={**ports, "insecure": True})) as daemon:
        eventually(lambda: "publish.address: tcp://0.0.0.0" in daemon.log())
        assert 'edged_insecure{endpoint="publish.address"} 1.0' in daemon.metrics()
        for private in ("link.address", "metrics.address"):
            assert f'edged_insecure{{endpoint="{private}"}} 0.0' in daemon.metrics()
            assert f"{private}: " not in daemon.log()


def test_sockets_in_the_file_system_are_for_this_user_alone(tmp_path: Path) -> None:
    publish = {key: f"ipc://{tmp_path}/{key}" for key in ("address", "replay")}
    with run_edged(tmp_path, config=config_in(tmp_path, publish=publish)) as daemon:
        assert len(daemon.first(5, since_s=60)) == 5
        assert (tmp_path / "address").stat().st_mode & 0o777 == 0o600
        assert (tmp_path / "replay").stat().st_mode & 0o777 == 0o600
