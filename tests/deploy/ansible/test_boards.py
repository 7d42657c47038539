"""The playbook on two boards: installed, run again, upgraded, stopped at the first that does not predict."""

import json
from pathlib import Path

import pytest

from tests.deploy.ansible.boards import FOLDER, boards, counts, wheel_of, wheels_for

pytestmark = pytest.mark.deep

CONFIG = {
    "cameras": {"demo": {"source": "synthetic:digits", "size": [160, 120], "fps": 1}},
    "workers": [{"device": "numpy"}],
}
VERSION = "/opt/edged/bin/edged --version"


def test_boards_are_installed_and_upgraded_one_by_one_and_a_bad_release_ends_at_the_first(tmp_path: Path) -> None:
    config = tmp_path / "edged.yaml"
    config.write_text(json.dumps(CONFIG))
    first, second = wheel_of(tmp_path, "0.1.1"), wheel_of(tmp_path, "0.1.2")
    broken = wheel_of(tmp_path, "0.1.3", **{"edged/cli/run.py": "\nraise SystemExit('broken')\n"})
    wheels_for(tmp_path, first)

    with boards(tmp_path, "one", "two") as fleet:

        def play(wheel: Path) -> tuple[int, dict[str, tuple[int, int]], str]:
            code, output = fleet.play(edged_wheel=str(wheel), edged_config=str(config))
            print(output[-6000:])
            return code, counts(output), output

        def versions() -> list[str]:
            return [fleet.run(name, VERSION) for name in fleet.names]

        # given bare boards: edged runs on both as its user, and predicts
        code, _, _ = play(first)
        assert code == 0
        assert versions() == ["edged 0.1.1"] * 2
        assert fleet.run("two", "systemctl", "show", "edged", "--property=ActiveState,User").split() == [
            "User=edged",
            "ActiveState=active",
        ]
        assert "/etc/edged/edged.yaml: " in fleet.run("two", "journalctl", "--unit=edged-compile", "--output=cat")

        # when it is run again: nothing changes, and nothing is started again
        before = [fleet.run(name, "systemctl show edged --property=MainPID") for name in fleet.names]
        code, changed, _ = play(first)
        assert (code, changed) == (0, {"one": (0, 0), "two": (0, 0)})
        assert before == [fleet.run(name, "systemctl show edged --property=MainPID") for name in fleet.names]

        # when there is a new version and another config: both get them, one after the other
        config.write_text(json.dumps({**CONFIG, "node": "renamed"}))
        code, _, output = play(second)
        assert code == 0
        assert versions() == ["edged 0.1.2"] * 2
        assert output.index("ok: [one]") < output.index("ok: [two]")

        # when a version does not start: the first board goes back, the second was never touched
        code, changed, output = play(broken)
        assert code != 0
        assert "one does not predict with edged-0.1.3" in output
        assert "two" not in changed
        assert versions() == ["edged 0.1.2"] * 2
        assert fleet.run("one", "systemctl is-active edged") == "active"


def test_an_absent_wheel_is_one_clear_line(tmp_path: Path) -> None:
    with boards(tmp_path, "one") as fleet:
        code, output = fleet.play(edged_wheel="dist/edged.whl", edged_config=str(FOLDER / "site.yml"))
        print(output)
        assert code != 0
        assert "edged_wheel: dist/edged.whl is absent" in " ".join(output.split())
