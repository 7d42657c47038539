"""What the documents say is what the code does."""

import re
from pathlib import Path

import pytest

from edged.cli import VERBS
from edged.config import Config
from edged.train.config import Training
from tests.conftest import ROOT
from tools.write_docs import PAGES, SECTIONS, TRAINING_SECTIONS

README = (ROOT / "README.md").read_text()
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted(ROOT.glob("docs/**/*.md")),
]


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_says_what_the_code_says(name: str) -> None:
    assert (ROOT / name).read_text() == PAGES[name](), "run: make docs"


@pytest.mark.parametrize("name", [name for name in PAGES if name.startswith("docs/")])
def test_the_readme_links_to_each_generated_page(name: str) -> None:
    assert f"]({name})" in README


@pytest.mark.parametrize("verb", VERBS)
def test_the_readme_names_each_verb(verb: str) -> None:
    assert f"`edged {verb}" in README


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_to_a_file_leads_somewhere(document: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", document.read_text())
    missing = [link for link in links if "://" not in link and not (document.parent / link).exists()]
    assert missing == []


def test_the_readme_names_each_dependency_of_the_package() -> None:
    pyproject = (ROOT / "pyproject.toml").read_text()
    [listed] = re.findall(r"^dependencies = \[(.*?)\]", pyproject, re.DOTALL | re.MULTILINE)
    for name in re.findall(r'"([A-Za-z0-9-]+)', listed):
        assert f"| {name} |" in README


def test_the_page_of_the_configuration_has_every_section() -> None:
    sections = set(Config.model_json_schema()["$defs"])
    assert set(SECTIONS) == sections


def test_the_page_of_the_file_of_a_training_has_every_section() -> None:
    sections = {name for name, each in Training.model_json_schema()["$defs"].items() if each["properties"]}
    assert set(TRAINING_SECTIONS) == sections
