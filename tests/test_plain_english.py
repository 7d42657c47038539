"""Words that this code base once used in a sense of its own stay out of its texts.

The texts are the strings, docstrings and comments of the code, and the pages, configs and rules beside it.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType

import pytest

from tests.conftest import ROOT

FOLDERS = ("edged", "tools", "docs", "deploy", "configs")
OTHERS = {".cl", ".css", ".html", ".js", ".json", ".md", ".sh", ".yaml", ".yml"}
RAW = "docs/benchmarks/"  # results as they were measured
INSTEAD = {
    r"told": "reported, sent, logged",
    r"whoever": "the peer, the client, any host that",
    r"somebody": "a user, another program",
    r"wish(?:es|ed)?": "request, settings",
    r"asked for": "requested",
    r"lets? go|letting go": "drop, delete, release",
    r"what there is": "name the things",
    r"what is no": "an invalid …",
    r"sittings?": "session",
    r"lessons?": "head version",
    r"(?:come|came) to nothing": "failed",
    r"bears|borne": "attributed",
    r"believed?": "trust",
    r"says so": "name the source",
    r"turned away": "rejected",
    r"(?:made|make|makes) way": "yield",
    r"in vain": "without success",
    r"answered the same": "agree",
    r"whose label is known": "labelled",
    r"runs by another": "runs with other settings, uses another file",
    r"no edged runs": "no running edged uses",
    r"who asks|who has asked": "the client",
    r"stands? still|stood still": "is frozen, is stopped, has paused",
}


NAMES_INSTEAD = {
    "seat": "slot",
    "asker": "client",
    "meet": "include, compare",
    "bury": "reap",
    "spoke": "sent, finished",
    "told": "reported",
    "whoever": "client, peer",
}


@cache
def texts() -> list[tuple[str, int, str]]:
    """All texts with their files and lines."""
    files = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")) if path.is_file()]
    return [
        (name, line, text)
        for path in files
        if not (name := path.relative_to(ROOT).as_posix()).startswith(RAW)
        for line, text in texts_of(path)
    ]


def texts_of(path: Path) -> Iterator[tuple[int, str]]:
    """Each string and comment of a Python file, each line of another one, with its line."""
    if path.suffix == ".py":
        code = path.read_text()
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.lineno, node.value
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string
    elif path.suffix in OTHERS:
        yield from enumerate(path.read_text().splitlines(), 1)


def test_texts_of_every_kind_are_read() -> None:
    kinds = {Path(name).suffix for name, _, _ in texts()}
    assert kinds == OTHERS | {".py"}


@pytest.mark.parametrize("word", INSTEAD)
def test_texts_use_the_standard_term(word: str) -> None:
    pattern = re.compile(rf"\b(?:{word})\b", re.IGNORECASE)
    found = [f"{name}:{line}" for name, line, text in texts() if pattern.search(text)]
    assert found == [], f"write one of: {INSTEAD[word]}"


@cache
def words_of_names() -> dict[str, str]:
    """Each word of the identifiers of the code, with the place of one of them."""
    found: dict[str, str] = {}
    for path in sorted((ROOT / "edged").rglob("*.py")):
        whole = compile(path.read_text(), path, "exec", dont_inherit=True)
        for code in codes_in(whole):
            place = f"{path.relative_to(ROOT)}:{code.co_firstlineno}"
            fields = (each for each in code.co_consts if isinstance(each, str) and each.isidentifier())
            names = (code.co_name, *code.co_names, *code.co_varnames, *code.co_cellvars, *code.co_freevars)
            found |= dict.fromkeys(re.findall(r"[A-Z]?[a-z]+", " ".join((*names, *fields))), place)
    return {word.lower(): place for word, place in found.items()}


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """The code of a module and of all functions and classes in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)


def test_an_index_is_named_so_and_an_input_too() -> None:
    found = []
    for path in sorted((ROOT / "edged").rglob("*.py")):
        for line, text in enumerate(path.read_text().splitlines(), 1):
            if re.search(r"\bplace\b: int|\bplace, .*\benumerate\(|\bplace in range|\bwanted: Input\b", text):
                found.append(f"{path.relative_to(ROOT)}:{line}")
    assert found == [], "write index, offset or number; model_input"


@pytest.mark.parametrize("word", NAMES_INSTEAD)
def test_names_use_the_standard_term(word: str) -> None:
    place = words_of_names().get(word)
    assert place is None, f"{place}: write one of: {NAMES_INSTEAD[word]}"
