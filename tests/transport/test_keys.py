"""Key files: made once, private from the start, and refused where others could read a secret."""

import os
from pathlib import Path

import pytest
import zmq.auth

from edged.errors import ConfigError
from edged.transport.keys import load_allowed, load_pair, load_public, new_pair


def test_a_new_pair_is_private_whatever_the_umask_and_other_programs_read_it(tmp_path: Path) -> None:
    umask = os.umask(0)
    try:
        key, pub = new_pair(tmp_path, "hub")
    finally:
        os.umask(umask)
    assert key.stat().st_mode & 0o777 == 0o600
    assert pub.stat().st_mode & 0o777 == 0o644
    pair = load_pair(key)
    assert zmq.auth.load_certificate(key) == (pair.public, pair.secret)
    assert zmq.auth.load_certificate(pub) == (load_public(pub), None)
    assert load_public(pub) == load_public(key) == pair.public
    assert pair.secret.decode() not in pub.read_text() + repr(pair)


def test_keys_that_pyzmq_made_are_read(tmp_path: Path) -> None:
    _, secret = zmq.auth.create_certificates(tmp_path, "other")
    os.chmod(secret, 0o600)
    assert load_pair(Path(secret)).public == load_public(tmp_path / "other.key")


@pytest.mark.parametrize("taken", ["hub.key", "hub.pub"])
def test_no_key_is_ever_replaced(tmp_path: Path, taken: str) -> None:
    (tmp_path / taken).write_text("mine")
    with pytest.raises(ConfigError, match="is there already"):
        new_pair(tmp_path, "hub")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [(taken, "mine")]


@pytest.mark.parametrize("name", ["", "../hub", "a b", ".hidden", "x" * 65])
def test_a_name_that_is_none_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="expected a name"):
        new_pair(tmp_path, name)


def test_a_secret_that_others_may_read_is_refused_with_the_command_that_mends_it(tmp_path: Path) -> None:
    key, _ = new_pair(tmp_path, "hub")
    key.chmod(0o640)
    with pytest.raises(ConfigError, match=rf"others may read this secret: chmod 600 {key}"):
        load_pair(key)


def test_a_credential_of_systemd_may_be_read_by_its_group_where_it_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, _ = new_pair(tmp_path, "hub")
    key.chmod(0o440)
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    assert load_pair(Path("credential:hub.key")) == load_pair(key)
    monkeypatch.delenv("CREDENTIALS_DIRECTORY")
    with pytest.raises(ConfigError, match="CREDENTIALS_DIRECTORY"):
        load_pair(Path("credential:hub.key"))
    with pytest.raises(ConfigError, match="others may read"):
        load_pair(key)


def test_the_allow_list_is_files_and_folders_by_name(tmp_path: Path) -> None:
    _, alice = new_pair(tmp_path, "alice")
    (tmp_path / "more").mkdir()
    _, bob = new_pair(tmp_path / "more", "bob")
    assert load_allowed((alice, tmp_path / "more")) == {load_public(alice): "alice", load_public(bob): "bob"}


@pytest.mark.parametrize(
    "content", ["", "curve\n", "x" * 5000, 'public-key = "short"', f'public-key = "{"é" * 40}"']
)
def test_a_file_that_is_no_key_is_reported(tmp_path: Path, content: str) -> None:
    (tmp_path / "bad.pub").write_text(content)
    with pytest.raises(ConfigError, match=r"bad\.pub: expected a"):
        load_public(tmp_path / "bad.pub")


def test_a_public_key_in_place_of_a_secret_and_halves_of_two_pairs_are_reported(tmp_path: Path) -> None:
    key, pub = new_pair(tmp_path, "one")
    pub.chmod(0o600)
    with pytest.raises(ConfigError, match="expected a secret key"):
        load_pair(pub)
    other = load_public(new_pair(tmp_path, "two")[1])
    key.write_text(key.read_text().replace(load_public(key).decode(), other.decode()))
    with pytest.raises(ConfigError, match="do not belong together"):
        load_pair(key)
