"""What our code never does: unpickle, read YAML as objects, give a line to a shell, run text as code."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

MODULES = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "marshal", "shelve", "pty", "commands"}
CALLS = {
    "eval", "exec", "compile", "__import__", "os.system", "os.popen", "subprocess.getoutput",
    "subprocess.getstatusoutput", "asyncio.create_subprocess_shell",
    "yaml.unsafe_load", "yaml.full_load", "yaml.unsafe_load_all", "yaml.full_load_all",
}  # fmt: skip
LOADS = {"yaml.load", "yaml.load_all"}
SAFE = {"SafeLoader", "CSafeLoader"}


def sources() -> list[Path]:
    return [path for part in ("edged", "tools") for path in sorted((ROOT / part).rglob("*.py"))]


def dangers(text: str) -> Iterator[str]:
    """What is dangerous in a source, with its line."""
    tree = ast.parse(text)
    names = _imported(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            modules = (
                [node.module or ""] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names]
            )
            yield from (f"{node.lineno}: {each}" for each in modules if each.partition(".")[0] in MODULES)
        if isinstance(node, ast.Call):
            yield from (f"{node.lineno}: {each}" for each in _of_call(node, _name(node.func, names)))


def _of_call(call: ast.Call, name: str) -> Iterator[str]:
    options = {option.arg: option.value for option in call.keywords}
    if name in CALLS or name.startswith(("os.spawn", "os.posix_spawn")):
        yield name
    if name in LOADS and not _is_safe(call.args[1] if len(call.args) > 1 else options.get("Loader")):
        yield f"{name} without SafeLoader"
    shell = options.get("shell")
    if shell is not None and not (isinstance(shell, ast.Constant) and shell.value is False):
        yield f"{name} with a shell"
    pickle = options.get("allow_pickle")
    if pickle is not None and not (isinstance(pickle, ast.Constant) and pickle.value is False):
        yield f"{name} with pickles"


def _is_safe(loader: ast.expr | None) -> bool:
    return loader is not None and ast.unparse(loader).rpartition(".")[2] in SAFE


def _imported(tree: ast.Module) -> dict[str, str]:
    """The full name of everything that an import gives another or a shorter one."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update({each.asname: each.name for each in node.names if each.asname})
        if isinstance(node, ast.ImportFrom):
            names.update({each.asname or each.name: f"{node.module}.{each.name}" for each in node.names})
    return names


def _name(called: ast.expr, names: dict[str, str]) -> str:
    first, dot, rest = ast.unparse(called).partition(".")
    return f"{names.get(first, first)}{dot}{rest}".removeprefix("builtins.")


def test_our_code_does_nothing_dangerous() -> None:
    found = {str(path.relative_to(ROOT)): list(dangers(path.read_text())) for path in sources()}
    assert len(found) > 100
    assert {path: each for path, each in found.items() if each} == {}


@pytest.mark.parametrize(
    "text",
    [
        "import pickle",
        "from marshal import loads",
        "import shelve as s",
        "import yaml as y\ny.load(text)",
        "from yaml import load, Loader\nload(text, Loader=Loader)",
        "yaml.unsafe_load(text)",
        "from subprocess import run as go\ngo('ls', shell=True)",
        "subprocess.Popen(line, shell=bool(1))",
        "from os import system as s\ns('ls')",
        "eval('1')",
        "import builtins\nbuiltins.exec('1')",
        "numpy.load(path, allow_pickle=True)",
    ],
)
def test_each_danger_is_found(text: str) -> None:
    assert list(dangers(text))


@pytest.mark.parametrize(
    "text",
    [
        "yaml.load(text, yaml.SafeLoader)",
        "yaml.load(text, Loader=CSafeLoader)",
        "run(line, shell=False)",
        "re.compile(x)",
    ],
)
def test_what_is_safe_is_not(text: str) -> None:
    assert not list(dangers(text))
