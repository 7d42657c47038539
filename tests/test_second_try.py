"""A test that fails runs once more, alone; one that passes then is reported, and few of them fail no run."""

import pytest

from tests.conftest import ROOT
from tests.second_try import FLAKY, MOST_TRIES

pytestmark = pytest.mark.deep

pytest_plugins = ["pytester"]

CONFTEST = """
from tests.second_try import SecondTry

def pytest_addoption(parser):
    parser.addoption("--second-try", action="store_true")

def pytest_configure(config):
    if config.getoption("--second-try") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(SecondTry(config))
"""

PASSES_ALONE = """
import os
import pytest

@pytest.mark.parametrize("number", range({count}))
def test_late(number):
    assert "PYTEST_XDIST_WORKER" not in os.environ, "beside others"
"""

SKIPS_ALONE = """
import os
import pytest

def test_without_device():
    if "PYTEST_XDIST_WORKER" not in os.environ:
        pytest.skip("no device")
    assert False
"""

HANGS = """
import ctypes
import os
import time
import pytest

@pytest.fixture
def device():
    yield
    open("ended " + os.environ.get("PYTEST_XDIST_WORKER", "alone"), "x")

def test_it(device):
    if "PYTEST_XDIST_WORKER" in os.environ:
        {call}
"""

BROKEN = """
def test_broken():
    assert 1 == 2

def test_sound():
    pass
"""


@pytest.fixture
def checkout(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A checkout whose tests have the hook of this one."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # twenty processes begin here, each in half the time
    pytester.makeini("[pytest]\ntestpaths = tests\n")
    (pytester.path / "tests").mkdir()  # no package: `tests` is that of this checkout
    (pytester.path / "tests" / "conftest.py").write_text(CONFTEST)
    return pytester


def run(checkout: pytest.Pytester, *options: str, **tests: str) -> pytest.RunResult:
    """Run these tests, written into files of these names, in a process of pytest-xdist."""
    for name, text in tests.items():
        path = checkout.path / "tests" / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return checkout.runpytest_subprocess("-p", "xdist", "--second-try", "--numprocesses", "1", *options)


def test_a_flaky_test_is_reported_and_kept_and_fails_nothing(checkout: pytest.Pytester) -> None:
    done = run(checkout, test_a=PASSES_ALONE.format(count=1))
    assert done.ret == pytest.ExitCode.OK
    done.stdout.fnmatch_lines(
        [
            "*def test_late(number):*",
            "flaky: tests/test_a.py::test_late[[]0], first failure: AssertionError: beside others",
            "*1 flaky*",
        ]
    )
    kept = (checkout.path / FLAKY).read_text()
    assert "def test_late(number):" in kept
    assert "flaky: tests/test_a.py::test_late[0], first failure:" in kept


def test_a_test_that_fails_twice_fails_the_run(checkout: pytest.Pytester) -> None:
    done = run(checkout, test_a=PASSES_ALONE.format(count=1), test_b=BROKEN)
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    done.stdout.fnmatch_lines(
        ["flaky: *test_late*", "FAILED tests/test_b.py::test_broken*", "*1 failed, 1 passed, 1 flaky*"]
    )


def test_more_than_five_flaky_tests_fail_the_run(checkout: pytest.Pytester) -> None:
    done = run(checkout, test_a=PASSES_ALONE.format(count=6))
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    done.stdout.fnmatch_lines(["6 flaky tests in .ci/flaky.txt, at most 5: the run fails", "*6 flaky*"])


def test_the_limit_holds_for_all_runs_that_add_to_the_file(checkout: pytest.Pytester) -> None:
    assert run(checkout, test_a=PASSES_ALONE.format(count=3)).ret == pytest.ExitCode.OK
    done = run(checkout)
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    done.stdout.fnmatch_lines(["6 flaky tests in .ci/flaky.txt, at most 5: the run fails"])


def test_a_test_that_depends_on_no_clock_has_no_second_try(checkout: pytest.Pytester) -> None:
    done = run(checkout, engine__test_a=PASSES_ALONE.format(count=1))
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    done.stdout.fnmatch_lines(["FAILED tests/engine/test_a.py::test_late*"])
    done.stdout.no_fnmatch_line("flaky: *")


def test_a_fixture_that_is_late_is_flaky_too(checkout: pytest.Pytester) -> None:
    late = (
        "import os, pytest\n@pytest.fixture\ndef device():\n    assert 'PYTEST_XDIST_WORKER' not in os.environ\n"
    )
    done = run(checkout, test_a=f"{late}def test_it(device):\n    pass\n")
    assert done.ret == pytest.ExitCode.OK
    done.stdout.fnmatch_lines(["flaky: tests/test_a.py::test_it, first failure: *", "*1 flaky*"])


def test_a_test_that_hangs_has_failed_and_its_fixtures_end(checkout: pytest.Pytester) -> None:
    sleeps = HANGS.format(call="time.sleep(3600)")
    done = run(checkout, "-p", "pytest_timeout", "-o", "timeout=1", test_a=sleeps, test_b=BROKEN)
    assert (checkout.path / "ended gw0").exists()
    done.stdout.fnmatch_lines(
        ["flaky: tests/test_a.py::test_it, first failure: *Timeout*", "*1 failed, 1 passed, 1 flaky*"]
    )


def test_the_process_ends_of_a_test_that_does_not_return_to_python(checkout: pytest.Pytester) -> None:
    stands = HANGS.format(call="ctypes.PyDLL(None).sleep(3600)")
    limit = ("-o", "faulthandler_timeout=1", "-o", "faulthandler_exit_on_timeout=true")
    done = run(checkout, *limit, test_a=stands, test_b=BROKEN)
    done.stderr.fnmatch_lines(["*in test_it*"])
    done.stdout.fnmatch_lines(
        ["flaky: tests/test_a.py::test_it, first failure: *", "*1 failed, 1 passed, 1 flaky*"]
    )


def test_a_test_that_is_skipped_the_second_time_has_not_passed(checkout: pytest.Pytester) -> None:
    assert run(checkout, test_a=SKIPS_ALONE).ret == pytest.ExitCode.TESTS_FAILED


def test_too_many_failures_have_no_second_try(checkout: pytest.Pytester) -> None:
    done = run(checkout, test_a=PASSES_ALONE.format(count=MOST_TRIES + 1))
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    done.stdout.fnmatch_lines([f"{MOST_TRIES + 1} tests failed, more than {MOST_TRIES}: no second try"])


def test_a_module_that_cannot_be_read_fails_the_run(checkout: pytest.Pytester) -> None:
    assert run(checkout, test_a="import nothing_of_that_name").ret != pytest.ExitCode.OK
    assert not (checkout.path / FLAKY).exists()
