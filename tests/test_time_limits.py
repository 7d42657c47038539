"""Every wait that is not itself a promise has one limit, so that no test fails because its machine is busy.

A time that a test gives to edged itself (`subscribe(timeout_s=0.2)`) is not looked at: it is what is tested.
Nor is the pace of what goes on beside a test: `while not stopped.wait(0.02)`.
"""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.eventually import LIMIT_MS, LIMIT_S
from tests.modules import modules

NONE = 99  # no argument but by its name
LIMITS_AT = {  # functions that wait, and at which place they take their limit
    "HTTPConnection": NONE,
    "HTTPSConnection": NONE,
    "acquire": NONE,
    "call": NONE,
    "check_call": NONE,
    "check_output": NONE,
    "communicate": 1,
    "create_connection": 1,
    "eventually": 1,
    "get": NONE,  # of a queue: a dict's takes no limit
    "join": 0,
    "poll": 0,
    "result": 0,
    "run": NONE,
    "select": 3,
    "settimeout": 0,
    "urlopen": 2,
    "wait": 0,
    "wait_for": 1,
    "wait_procs": 1,
}
KEYWORDS = ("timeout", "within_s")
IN_MS = ("poll",)
SHORT = ("TURN_S", "TURN_MS", "SILENCE_S", "SILENCE_MS")  # of tests/eventually.py, which says what they are for
APART = {  # what else has limits of its own, and why
    "trials/soak/": "it leaves a fault that nobody meets, and complains of what takes too long",
    "bench/catch_up.py": "how often it looks is a part of what it measures",
}

Constants = Mapping[str, float]


def constants_of(module: ast.Module) -> dict[str, float]:
    """Return the numbers that a module names, or takes from another module of the tests; not the short ones."""
    found: dict[str, float] = {}
    for node in module.body:
        if isinstance(node, ast.ImportFrom) and (source := modules().get(path_of(node.module or ""))):
            theirs = constants_of(source)
            found |= {each.asname or each.name: theirs[each.name] for each in node.names if each.name in theirs}
        elif isinstance(node, ast.Assign) and (number := number_in(node.value, found)) is not None:
            found |= {ast.unparse(target): number for target in node.targets}
    return {name: number for name, number in found.items() if name not in SHORT}


def path_of(module: str) -> Path:
    return ROOT / f"{module.replace('.', '/')}.py"


def number_in(node: ast.expr, constants: Constants) -> float | None:
    """Return the number that an expression is as it stands there, with the names of its module."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.Name(id=name):
            return constants.get(name)
        case ast.Call(func=ast.Name(id="int" | "round"), args=[inner]):
            return number_in(inner, constants)
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div() as op, right=right):
            first, second = number_in(left, constants), number_in(right, constants)
            if first is not None and second:
                return first * second if isinstance(op, ast.Mult) else first / second
    return None


def limits_in(call: ast.Call) -> Iterator[ast.expr]:
    """Yield what a call of a function that waits has for a limit."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)
    if name in LIMITS_AT:
        yield from call.args[LIMITS_AT[name] : LIMITS_AT[name] + 1]
        yield from (each.value for each in call.keywords if each.arg in KEYWORDS)


def too_short(module: ast.Module) -> list[str]:
    """Return the calls of a module that wait for less than the limit; to look without waiting is no limit."""
    constants, paces = constants_of(module), paces_in(module)
    calls = [node for node in ast.walk(module) if isinstance(node, ast.Call)]
    return [
        f"{call.lineno}: {ast.unparse(call)}"
        for call in calls
        if call not in paces
        for limit in limits_in(call)
        if 0 < (number_in(limit, constants) or 0) < (LIMIT_MS if is_in_ms(call) else LIMIT_S)
    ]


def paces_in(module: ast.Module) -> list[ast.expr]:
    """Return what loops wait for from one turn to the next, until they are stopped."""
    ends = [node.test for node in ast.walk(module) if isinstance(node, ast.While)]
    return [end.operand for end in ends if isinstance(end, ast.UnaryOp) and isinstance(end.op, ast.Not)]


def is_in_ms(call: ast.Call) -> bool:
    return ast.unparse(call.func).endswith(IN_MS)


def test_no_wait_of_a_test_has_a_limit_of_its_own() -> None:
    by_name = {str(path.relative_to(ROOT)): module for path, module in modules().items()}
    found = {name: too_short(module) for name, module in by_name.items() if not name.startswith(tuple(APART))}
    assert [f"{name}:{call}" for name, calls in found.items() for call in calls] == []


@pytest.mark.parametrize(
    "source",
    [
        "process.wait(5)",
        "process.wait(timeout=0.5)",
        "process.communicate(timeout=10)",
        "process.communicate(b'', 10)",
        "urlopen(address, timeout=5)",
        "queue.get(timeout=2.5)",
        "thread.join(30)",
        "threads[0].join(timeout=30)",
        "socket.poll(5_000)",
        "poller.poll(timeout=50)",
        "eventually(lambda: seen, 20)",
        "eventually(lambda: seen, within_s=2 * 10)",
        "http.client.HTTPConnection('127.0.0.1', port, timeout=10)",
        "create_connection(address, 1)",
        "psutil.wait_procs(children, timeout=5)",
        "subprocess.run(command, check=True, timeout=30)",
        "subprocess.check_output(command, timeout=30)",
        "WITHIN_S = 10.0\nprocess.wait(WITHIN_S)",
        "WITHIN_S = 10.0\nsocket.poll(round(1000 * WITHIN_S))",
        "PATIENT_S = 10\nWITHIN_S = PATIENT_S / 2\neventually(condition, WITHIN_S)",
        "from tests.e2e.daemon import MAX_AGE_S\nprocess.wait(MAX_AGE_S)",
    ],
)
def test_a_short_limit_is_found(source: str) -> None:
    assert len(too_short(ast.parse(source))) == 1


@pytest.mark.parametrize(
    "source",
    [
        "process.wait(60)",
        "process.wait()",
        "WITHIN_S = 300\neventually(condition, WITHIN_S)",
        "from tests.eventually import LIMIT_S, LIMIT_MS\nprocess.wait(LIMIT_S), socket.poll(LIMIT_MS)",
        "from tests.eventually import TURN_S, SILENCE_MS\nlink.wait(TURN_S), socket.poll(SILENCE_MS)",
        "socket.poll(60_000)",
        "socket.poll(0)",
        "process.poll()",
        "', '.join(names)",
        "os.path.join('a', 'b')",
        "counts.get('stale', 0.5)",
        "run('dpkg', '--install', 5)",
        "subscribe(address, timeout_s=0.2)",
        "hold('device-a', within_s=0.1)",
        "process.wait(patience_s)",
        "while not stopped.wait(0.02):\n    hub.publish()",
    ],
)
def test_what_is_no_short_limit_is_left_alone(source: str) -> None:
    assert too_short(ast.parse(source)) == []
