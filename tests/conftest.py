"""Fixtures of every test, the two tiers, and the one list of reasons for which a test may be skipped in CI."""

import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from edged.system.log import HANDLER, LEVEL_VARIABLE
from tests.at_once import AtOnce
from tests.compiled import share_compiled
from tests.deep_part import NO_TIME, DeepPart
from tests.durations import Durations
from tests.eventually import eventually, free_port
from tests.own_values import restart
from tests.runtimes import load_intel_too
from tests.second_try import SecondTry
from tests.tiers import NotRun

__all__ = ["eventually", "free_port"]

load_intel_too()
os.environ["PATH"] = f"{sys.prefix}/bin:{os.environ.get('PATH', '')}"  # as activated: messages say `edged`
# how long an example takes, also to be drawn, is a matter of the machine
settings.register_profile("edged", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("edged")

ROOT = Path(__file__).resolve().parents[1]

# In CI (CI=true) a test that is skipped for any other reason fails the run. The reason must hold one of these.
ALLOWED_SKIPS = (
    "no systemd-nspawn here",  # a container that may neither mount nor make namespaces
    "no network namespaces here",  # a container that may not make them
    "no netem in this kernel",  # a module that few kernels of CI have; delay alone takes it
    "no Chromium but as a snap",  # Ubuntu's: a container has no snapd
    "no root of",  # a host without mmdebstrap, root or a mirror of Debian
    "no Arm emulation",  # a container whose kernel takes no other format of programs
    "no GPU",
    "no dot product",  # a processor without this instruction, or an OpenCL runtime that does not take it
    "no board",
    "no shared data",
    "no camera device",
    "no power sensor",
    "no Intel runtime",
    NO_TIME,
)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of test data beside the checkout; the test is skipped where it is absent."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no shared data: {folder} is absent")
    return folder


@pytest.fixture(name="eventually", scope="session")
def eventually_fixture() -> Callable[..., Any]:
    """`tests.eventually.eventually`, as a fixture."""
    return eventually


@pytest.fixture(scope="session", autouse=True)
def _state_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test writes into the user's own journal."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(autouse=True)
def _values_of_its_own(request: pytest.FixtureRequest) -> None:
    """Let a test draw the same values from its module's RANDOM whichever tests ran before it."""
    generator = getattr(request.module, "RANDOM", None)
    if isinstance(generator, np.random.Generator):
        restart(generator, request.node.nodeid)


@pytest.fixture(autouse=True)
def _log_of_the_test() -> Iterator[None]:
    """No test leaves a log level behind, or a handler that writes to a standard error which pytest has closed."""
    root, edged = logging.getLogger(), logging.getLogger("edged")
    edged.setLevel(logging.NOTSET)  # a fixture of a module may have run a command
    yield
    edged.setLevel(logging.NOTSET)
    os.environ.pop(LEVEL_VARIABLE, None)  # of a command that ran in this process
    for handler in [each for each in root.handlers if each.get_name() == HANDLER]:
        root.removeHandler(handler)


@pytest.fixture(autouse=True)
def _no_real_time() -> Iterator[None]:
    """No test leaves this process with a real-time policy, with which it would starve all others."""
    before = os.sched_getscheduler(0)
    yield
    assert os.sched_getscheduler(0) == before


@pytest.fixture(autouse=True)
def _no_blocked_signals() -> Iterator[None]:
    """No test leaves signals blocked, which a process that another test starts would never get."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    yield
    blocked = signal.pthread_sigmask(signal.SIG_SETMASK, before) - before
    assert blocked <= {signal.SIGHUP}  # which `edged run` blocks while it starts


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what the Makefile and CI ask of a run."""
    group = parser.getgroup("edged")
    group.addoption("--second-try", action="store_true", help="run each failed test once more, alone, at the end")
    group.addoption("--renew-durations", action="store_true", help="keep the times of deep tests for --deep-part")
    group.addoption(
        "--deep-part", type=float, metavar="MINUTES", help="of the deep tests those that this commit has time for"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Every run says at its end what it did not run; its processes share what they compile."""
    share_compiled()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in a shell's background job, and what it starts
        signal.signal(signal.SIGINT, signal.default_int_handler)
    minutes = config.getoption("--deep-part")
    config.pluginmanager.register(NotRun(config, by_name=minutes is not None))
    config.pluginmanager.register(AtOnce(config))
    if minutes is not None:
        config.pluginmanager.register(DeepPart(config, minutes))
    if hasattr(config, "workerinput"):  # a process of pytest-xdist: the first one has all reports
        return
    if config.getoption("--renew-durations"):
        config.pluginmanager.register(Durations(config))
    if config.getoption("--second-try"):
        config.pluginmanager.register(SecondTry(config))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Promises are deep."""
    for item in items:
        if item.get_closest_marker("promise"):
            item.add_marker(pytest.mark.deep)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """In CI nothing is skipped without a reason that is allowed: such a test has failed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") != "true" or reporter is None:
        return
    for report in list(reporter.stats.get("skipped", [])):
        if not any(allowed in str(report.longrepr) for allowed in ALLOWED_SKIPS):
            print(f"\n{report.nodeid} must not be skipped in CI (see tests/conftest.py): {report.longrepr}")
            reporter.stats["skipped"].remove(report)
            reporter.stats.setdefault("failed", []).append(report)
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
