"""A kernel that has killed for want of memory is told from everybody else who sends SIGKILL."""

from pathlib import Path

from edged.hub.children.child import OomKills


def group(folder: Path, kills: int) -> Path:
    (folder / "memory.events").write_text(f"low 0\nhigh 0\nmax 40\noom 7\noom_kill {kills}\noom_group_kill 0\n")
    return folder


def test_each_kill_is_claimed_once(tmp_path: Path) -> None:
    kills = OomKills(group(tmp_path, 3))
    assert not kills.claim()
    group(tmp_path, 5)
    assert [kills.claim() for _ in range(3)] == [True, True, False]


def test_where_there_is_no_control_group_nothing_is_claimed(tmp_path: Path) -> None:
    assert not OomKills(tmp_path / "absent").claim()
