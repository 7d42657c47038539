"""All modules of the tests, parsed, for the tests of the tests."""

import ast
from functools import cache
from pathlib import Path

from tests.conftest import ROOT


@cache
def modules() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text()) for path in sorted((ROOT / "tests").rglob("*.py"))}
