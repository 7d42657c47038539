"""All modules of the tests and of the programs beside them, parsed, for the tests of the tests."""

import ast
from functools import cache
from pathlib import Path

from tests.conftest import ROOT

FOLDERS = ("bench", "tests", "trials")


@cache
def modules() -> dict[Path, ast.Module]:
    paths = (path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py")))
    return {path: ast.parse(path.read_text()) for path in paths}
