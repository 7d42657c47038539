"""`edged keys` as a user starts it."""

from pathlib import Path

from edged.transport.keys import load_pair
from tests.cli.command import edged_here


def test_new_writes_both_files_and_show_prints_the_public_half(tmp_path: Path) -> None:
    made = edged_here("keys", "new", "alice", "--output", tmp_path)
    assert made.returncode == 0
    pair = load_pair(tmp_path / "alice.key")
    shown = edged_here("keys", "show", tmp_path / "alice.key")
    assert shown.stdout.strip() == pair.public.decode()
    assert pair.secret.decode() not in made.stdout + shown.stdout


def test_a_second_one_of_that_name_is_refused(tmp_path: Path) -> None:
    edged_here("keys", "new", "alice", "--output", tmp_path)
    again = edged_here("keys", "new", "alice", "--output", tmp_path)
    assert again.returncode == 2
    assert "is there already" in again.stderr
