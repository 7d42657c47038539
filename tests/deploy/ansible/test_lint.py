"""What ansible-lint says of deploy/ansible, by its strictest rules, and what its documentation names."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import ROOT
from tests.deploy.ansible.boards import FOLDER

ROLE = FOLDER / "roles/edged"


def variables() -> dict[str, Any]:
    """Those of the role, as its argument specification has them."""
    found: dict[str, Any] = yaml.safe_load((ROLE / "meta/argument_specs.yml").read_text())
    return dict(found["argument_specs"]["main"]["options"])


@pytest.mark.deep
def test_ansible_lint_finds_nothing(tmp_path: Path) -> None:
    pytest.importorskip("ansiblelint", reason="ansible-lint is absent: make test-all")
    programs = Path(sys.prefix) / "bin"
    command = [str(programs / "ansible-lint"), "--offline", "--profile", "production", str(FOLDER)]
    own = {"PATH": f"{programs}:{os.environ['PATH']}", "NO_COLOR": "1", "HOME": str(tmp_path)}
    done = subprocess.run(
        command, env=os.environ | own, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed" in done.stdout + done.stderr


def test_each_variable_has_a_default_or_is_required() -> None:
    defaults = yaml.safe_load((ROLE / "defaults/main.yml").read_text())
    required = {name for name, option in variables().items() if option.get("required")}
    assert required.isdisjoint(defaults)
    assert required | set(defaults) == set(variables())


def test_each_variable_is_documented() -> None:
    page = (ROOT / "docs/how-to/ansible.md").read_text()
    documented = set(re.findall(r"^\| `(edged_\w+)` \|", page, re.MULTILINE))
    assert documented == set(variables())


def test_the_example_sets_variables_that_there_are() -> None:
    boards = yaml.safe_load((FOLDER / "inventory.example.yml").read_text())["boards"]
    used = set(boards["vars"]).union(*(host or {} for host in boards["hosts"].values()))
    assert {name for name in used if name.startswith("edged_")} <= set(variables())
