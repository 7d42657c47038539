"""What the documents say is what the code does."""

import argparse
import importlib
import re
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from edged.cli import module_of
from edged.cli.verbs import VERBS
from edged.config import Config
from edged.train.config import Training
from tests.conftest import ROOT
from tests.modules import FOLDERS
from tools.write_docs import PAGES, SECTIONS, TRAINING_SECTIONS

COMMAND = re.compile(r"^ *(?:sudo |-u \S+ |env |[A-Z_]+=\S+ )*(?:\S*/)?edged (?P<verb>[a-z][a-z-]*)(?= |$)")
README = (ROOT / "README.md").read_text()
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted(ROOT.glob("docs/**/*.md")),
    *(page for folder in FOLDERS for page in sorted((ROOT / folder).rglob("README.md"))),
    ROOT / "tools/README.md",
]


MANUAL = [document for document in DOCUMENTS if document.name != "CHANGELOG.md"]  # which names what is gone, too


def name_of(document: Path) -> str:
    """Name a document in the names of tests."""
    return document.relative_to(ROOT).as_posix()


def links_of(document: Path) -> list[tuple[str, str]]:
    """Return the target and the anchor of each link inside the repository; one of them may be empty."""
    links: list[tuple[str, str]] = re.findall(r"\]\(([^)#\s]*)(?:#([^)]+))?\)", document.read_text())
    return [link for link in links if "://" not in link[0] and any(link)]


@cache
def anchors_of(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as code hosts and MkDocs make them."""
    headings = re.findall(r"^#+ +(.+)$", re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def pages_of(entry: Any) -> Iterator[str]:
    """Yield the pages of a navigation or of an entry of it."""
    if isinstance(entry, str):
        yield entry
    else:
        for each in entry.values() if isinstance(entry, dict) else entry:
            yield from pages_of(each)


def blocks_of(document: Path, language: str) -> list[str]:
    """Return the code blocks of a language, without the indentation of a list."""
    found = re.findall(rf"^( *)```{language}\n(.*?)^ *```", document.read_text(), re.DOTALL | re.MULTILINE)
    return [textwrap.dedent(block) for _, block in found]


def commands_of(document: Path) -> list[str]:
    """Return each command line of `edged`: a line of a block, or code within a sentence."""
    text = document.read_text()
    lines = [line for block in blocks_of(document, "") for line in block.replace("\\\n", " ").splitlines()]
    sentences = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    spans = [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", sentences)]
    return [line for line in [*lines, *spans] if COMMAND.match(line)]


def problem_of(command: str) -> str | None:
    """Say which verb or option of a command does not exist."""
    found = COMMAND.match(command)
    assert found
    verb, rest = found["verb"], command[found.end() :].partition(" #")[0]
    if verb not in VERBS:
        return f"no verb {verb}"
    given = set(re.findall(r"(?:^|[\s\[(])(--?[a-z][a-z-]*)", rest))
    unknown = sorted(given - options_of(verb))
    return f"edged {verb} has no option {', '.join(unknown)}" if unknown else None


@cache
def options_of(verb: str) -> set[str]:
    """Return the options of a verb and of its sub-commands."""
    parser = argparse.ArgumentParser(prog=f"edged {verb}")
    importlib.import_module(module_of(verb)).add_arguments(parser)
    return set(_options_of(parser))


def _options_of(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        yield from action.option_strings
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from _options_of(inner)


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_says_what_the_code_says(name: str) -> None:
    assert (ROOT / name).read_text() == PAGES[name](), "run: make docs"


@pytest.mark.parametrize("name", [name for name in PAGES if name.startswith("docs/")])
def test_the_readme_links_to_each_generated_page(name: str) -> None:
    assert f"]({name})" in README


def test_the_readme_has_at_most_180_lines() -> None:
    assert len(README.splitlines()) <= 180


@pytest.mark.parametrize("verb", VERBS)
def test_the_readme_names_each_verb(verb: str) -> None:
    assert f"`edged {verb}" in README


@pytest.mark.parametrize("document", [each for each in DOCUMENTS if links_of(each)], ids=name_of)
def test_every_link_to_a_file_leads_somewhere(document: Path) -> None:
    missing = [target for target, _ in links_of(document) if not (document.parent / target).exists()]
    assert missing == []


@pytest.mark.parametrize("document", [each for each in DOCUMENTS if links_of(each)], ids=name_of)
def test_every_link_to_a_heading_leads_somewhere(document: Path) -> None:
    pages = [(document.parent / target if target else document, anchor) for target, anchor in links_of(document)]
    missing = [
        f"{page.name}#{anchor}"
        for page, anchor in pages
        if anchor and page.suffix == ".md" and anchor not in anchors_of(page)
    ]
    assert missing == []


def test_the_website_has_every_page_in_its_navigation() -> None:
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")}
    assert sorted(pages_of(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"])) == sorted(pages)


@pytest.mark.parametrize("document", [each for each in DOCUMENTS if blocks_of(each, "python")], ids=name_of)
def test_python_in_a_document_compiles(document: Path) -> None:
    for block in blocks_of(document, "python"):
        compile(block, str(document), "exec")


@pytest.mark.parametrize("document", [each for each in DOCUMENTS if blocks_of(each, "yaml")], ids=name_of)
def test_yaml_in_a_document_can_be_read(document: Path) -> None:
    for block in blocks_of(document, "yaml"):
        assert yaml.safe_load(block)


@pytest.mark.parametrize("document", [each for each in MANUAL if commands_of(each)], ids=name_of)
def test_commands_in_a_document_have_verbs_and_options_that_exist(document: Path) -> None:
    wrong = [f"{command}: {problem}" for command in commands_of(document) if (problem := problem_of(command))]
    assert wrong == []


def test_the_messages_in_troubleshooting_are_those_of_the_code() -> None:
    code = " ".join("".join(path.read_text() for path in (ROOT / "edged").rglob("*.py")).split())
    rows = re.findall(r"^\| ([^|]+) \|", (ROOT / "docs/how-to/troubleshooting.md").read_text(), re.MULTILINE)
    quoted = [span for row in rows for span in re.findall(r"`([^`]+)`", row) if " " in span]
    messages = [span for span in quoted if not span.startswith(("edged ", "systemctl ", '"'))]
    assert messages
    assert [message for message in messages if message not in code] == []


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("edged run my.yaml --count 300", None),
        ("sudo /opt/edged/bin/edged keys new hub --output keys", None),
        ("edged runs", "no verb runs"),
        ("edged run --counts 3", "edged run has no option --counts"),
    ],
)
def test_a_command_with_a_wrong_verb_or_option_is_found(command: str, problem: str | None) -> None:
    assert problem_of(command) == problem


def test_the_readme_names_each_dependency_of_the_package() -> None:
    pyproject = (ROOT / "pyproject.toml").read_text()
    [listed] = re.findall(r"^dependencies = \[(.*?)\]", pyproject, re.DOTALL | re.MULTILINE)
    names = re.findall(r'"([A-Za-z0-9-]+)', listed)
    assert "numpy" in names
    assert [name for name in names if f"| {name} |" not in README] == []


def test_the_page_of_the_configuration_has_every_section() -> None:
    sections = set(Config.model_json_schema()["$defs"])
    assert set(SECTIONS) == sections


def test_the_page_of_the_file_of_a_training_has_every_section() -> None:
    sections = {name for name, each in Training.model_json_schema()["$defs"].items() if each["properties"]}
    assert set(TRAINING_SECTIONS) == sections
