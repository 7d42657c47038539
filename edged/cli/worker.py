"""`edged worker`: one worker process. The hub starts it; on another host a person or systemd does."""

import argparse
import os
import platform
import signal
import sys
import threading
from pathlib import Path

from edged.cli import tell
from edged.cli.find_hub import hub_of
from edged.config import Config
from edged.config.load import load_config
from edged.errors import ConfigError, EdgedError
from edged.system import log, parent_death
from edged.system.parent_death import WHEN_TOLD
from edged.worker.threads import limit_threads


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the verb."""
    parser.add_argument(
        "index",
        type=int,
        nargs="?",
        metavar="INDEX",
        help="which of the config's workers, from 0; default: this host's",
    )
    parser.add_argument("--config", type=Path, required=True, metavar="FILE")
    parser.add_argument("--hub", metavar="ADDRESS", help="ZeroMQ address of the hub; default: link.address")
    parser.add_argument(WHEN_TOLD, action="store_true", help="wait for INDEX on standard input, for the hub")
    parser.add_argument("--host", metavar="NAME", help="take the worker of this host; default: its own name")


def run(arguments: argparse.Namespace) -> int:
    """Serve until the hub says stop."""
    _exit_when_told(ours={signal.SIGTERM} if parent_death.end_with_parent() else {signal.SIGTERM, signal.SIGINT})
    log.configure()
    config = load_config(arguments.config)
    if arguments.when_told:
        arguments.index = _told_index()
    index = _index(config, arguments)
    hub, curve = hub_of(config, arguments.config, arguments.hub)
    limit_threads(config.workers[index].threads)
    from edged.worker.process import run_worker

    # A job may still be on the device: its driver is not to be taken down under it. And the hub is to see the end
    # of the process, which says why, no later than that of its link.
    try:
        run_worker(config, index, hub, curve)
    except (EdgedError, MemoryError) as error:
        os._exit(tell(error))
    sys.stderr.flush()
    os._exit(0)


def _told_index() -> int:
    """The worker that the hub names once it needs one; everything is loaded by then. Ends where it needs none."""
    import edged.worker.process  # noqa: F401

    told = sys.stdin.readline()
    if not told.strip():
        os._exit(0)
    index = int(told)
    sys.argv[1:] = ["worker", str(index)]  # what a lock says of its holder
    sys.orig_argv[:] = [str(index) if each == WHEN_TOLD else each for each in sys.orig_argv]  # for another start
    return index


def _index(config: Config, arguments: argparse.Namespace) -> int:
    """The worker that was named, or the one that is this host's."""
    file, index, workers = arguments.config, arguments.index, config.workers
    if index is not None:
        if not 0 <= index < len(workers):
            raise ConfigError(f"{file}: there is no worker {index}, workers: has {len(workers)}")
        return int(index)
    host = arguments.host or platform.node()
    names = {host, host.partition(".")[0]}
    found = [place for place, worker in enumerate(workers) if worker.host in names]
    if len(found) != 1:
        what = f"{len(found)} workers have" if found else "no worker has"
        raise ConfigError(f"{file}: {what} host: {host}; say which of workers: it is, by its number from 0")
    return found[0]


def _exit_when_told(ours: set[signal.Signals]) -> None:
    """One of these signals ends the process at once and well, even while a device's compiler runs.

    Under a hub Ctrl-C is not among them: it is for the hub, which stops its children in order.
    """
    if signal.SIGINT not in ours:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    # a handler would have to wait for the call that the main thread is in; a thread of its own does not
    signal.pthread_sigmask(signal.SIG_BLOCK, ours)
    threading.Thread(target=_exit_on, args=(ours,), name="signals", daemon=True).start()


def _exit_on(ours: set[signal.Signals]) -> None:
    signal.sigwait(ours)
    os._exit(0)
