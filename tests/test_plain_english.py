"""Words that this code base once used in a sense of its own stay out of docstrings, help, logs and errors."""

import ast
import re
from functools import cache

import pytest

from tests.conftest import ROOT

INSTEAD = {
    r"told": "reported, sent, logged",
    r"whoever": "the peer, the client, any host that",
    r"wish": "request, settings",
    r"asked for": "requested",
    r"lets? go": "drop, delete, release",
    r"what there is": "name the things",
    r"sitting": "session",
    r"lesson": "head version",
    r"(come|came) to nothing": "failed",
    r"bears|borne": "attributed",
    r"believed?": "trust",
    r"says so": "name the source",
    r"turned away": "rejected",
}


@cache
def texts() -> list[tuple[str, int, str]]:
    """All strings of edged/, docstrings and messages alike, with their files and lines."""
    return [
        (path.relative_to(ROOT).as_posix(), node.lineno, node.value)
        for path in sorted((ROOT / "edged").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


@pytest.mark.parametrize("word", INSTEAD)
def test_texts_use_the_standard_term(word: str) -> None:
    pattern = re.compile(rf"\b(?:{word})\b", re.IGNORECASE)
    found = [f"{name}:{line}" for name, line, text in texts() if pattern.search(text)]
    assert found == [], f"write one of: {INSTEAD[word]}"
