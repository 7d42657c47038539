"""`edged --version`, and the verbs in the groups of `edged --help`."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from edged import __version__
from edged.cli import run_command_line
from edged.cli.print_version import commit_of
from edged.cli.verbs import GROUPS
from tests.conftest import ROOT

GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b", "-C")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A git repository with one commit of one file."""
    (tmp_path / "file").write_text("1")
    for arguments in (["init", "--quiet"], ["add", "file"], ["commit", "--quiet", "--message", "first"]):
        subprocess.run([*GIT, str(tmp_path), *arguments], check=True)
    return tmp_path


def test_a_checkout_names_its_commit_and_says_where_files_differ(checkout: Path) -> None:
    head = subprocess.run([*GIT, str(checkout), "rev-parse", "HEAD"], capture_output=True, text=True, check=True)

    clean = commit_of(checkout)
    (checkout / "file").write_text("2")

    assert len(clean) >= 9
    assert head.stdout.startswith(clean)
    assert commit_of(checkout) == f"{clean}+"


def test_without_git_no_commit_is_named(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert commit_of(checkout / "absent") == ""
    monkeypatch.setenv("PATH", "/nowhere")
    assert commit_of(checkout) == ""


def test_the_version_is_printed_with_the_commit(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        run_command_line(["--version"])

    known = commit_of(ROOT)
    assert exit_.value.code == 0
    assert capsys.readouterr().out == f"edged {__version__}{f' ({known})' if known else ''}\n"


def test_the_help_lists_each_verb_in_its_group(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run_command_line(["--help"])

    sections = re.split(r"^  (\S.*):$", capsys.readouterr().out.partition("\nexamples:")[0], flags=re.MULTILINE)[
        1:
    ]
    listed = {
        title: re.findall(r"^    ([a-z-]+)(?: |$)", text, re.MULTILINE)
        for title, text in zip(sections[::2], sections[1::2], strict=True)
    }
    assert listed == {title: list(group) for title, group in GROUPS.items()}


@pytest.mark.deep
def test_a_wheel_has_the_commit_that_it_was_built_from(tmp_path: Path) -> None:
    build = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"

    subprocess.run([sys.executable, "-c", build, tmp_path], cwd=ROOT, check=True, capture_output=True)

    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        assert wheel.read("edged/commit").decode().strip() == commit_of(ROOT).rstrip("+")
