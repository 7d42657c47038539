"""The playbook on two boards: installed, run again, upgraded, stopped at the first that does not predict."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.deploy.ansible.boards import FOLDER, Boards, boards, counts, wheel_of, wheels_for

pytestmark = pytest.mark.deep

CONFIG = {
    "cameras": {"demo": {"source": "synthetic:digits", "size": [160, 120], "fps": 1}},
    "workers": [{"device": "numpy"}],
}
VERSION = "/opt/edged/bin/edged --version"


class Play(NamedTuple):
    """The exit code, how many tasks of each board changed something and how many failed, and what was printed."""

    code: int
    changed: dict[str, tuple[int, int]]
    output: str


@dataclass
class Fleet:
    """Two boards on which the playbook has installed `wheel`. `config`: of the last play."""

    machines: Boards
    config: Path
    wheel: Path

    def play(self, wheel: Path) -> Play:
        code, output = self.machines.play(edged_wheel=str(wheel), edged_config=str(self.config))
        print(output[-6000:])
        return Play(code, counts(output), output)

    def all_run(self, command: str) -> list[str]:
        return [self.machines.run(name, command) for name in self.machines.names]


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    folder = tmp_path_factory.mktemp("fleet")
    config = folder / "edged.yaml"
    config.write_text(json.dumps(CONFIG))
    wheel = wheel_of(folder, "0.1.1")
    wheels_for(folder, wheel)
    with boards(folder, "one", "two") as machines:
        fleet = Fleet(machines, config, wheel)
        assert fleet.play(wheel).code == 0
        yield fleet


def test_bare_boards_run_edged_as_its_user_and_have_compiled_ahead(fleet: Fleet) -> None:
    assert fleet.all_run(VERSION) == ["edged 0.1.1"] * 2
    assert (
        fleet.all_run("systemctl show edged --property=ActiveState,User") == ["User=edged\nActiveState=active"] * 2
    )
    for compiled in fleet.all_run("journalctl --unit=edged-compile --output=cat"):
        assert "/etc/edged/edged.yaml: " in compiled


def test_run_again_it_changes_nothing_and_starts_nothing_again(fleet: Fleet) -> None:
    before = fleet.all_run("systemctl show edged --property=MainPID")

    again = fleet.play(fleet.wheel)

    assert (again.code, again.changed) == (0, {"one": (0, 0), "two": (0, 0)})
    assert fleet.all_run("systemctl show edged --property=MainPID") == before


def test_a_new_version_and_another_config_reach_one_board_after_the_other(fleet: Fleet) -> None:
    fleet.config.write_text(json.dumps({**CONFIG, "node": "renamed"}))
    fleet.wheel = wheel_of(fleet.machines.folder, "0.1.2")

    upgrade = fleet.play(fleet.wheel)

    assert upgrade.code == 0
    assert fleet.all_run(VERSION) == ["edged 0.1.2"] * 2
    assert upgrade.output.index("ok: [one]") < upgrade.output.index("ok: [two]")


def test_a_version_that_does_not_start_is_undone_at_the_first_board_and_reaches_no_other(fleet: Fleet) -> None:
    before = fleet.all_run(VERSION)
    broken = wheel_of(fleet.machines.folder, "0.1.3", **{"edged/cli/run.py": "\nraise SystemExit('broken')\n"})

    refused = fleet.play(broken)

    assert refused.code != 0
    assert "one does not predict with edged-0.1.3" in refused.output
    assert "two" not in refused.changed
    assert fleet.all_run(VERSION) == before
    assert fleet.machines.run("one", "systemctl is-active edged") == "active"


def test_an_absent_wheel_is_one_clear_line(tmp_path: Path) -> None:
    with boards(tmp_path, "one") as machines:
        code, output = machines.play(edged_wheel="dist/edged.whl", edged_config=str(FOLDER / "site.yml"))
        print(output)
        assert code != 0
        assert "edged_wheel: dist/edged.whl is absent" in " ".join(output.split())
