"""`edged worker`: run one worker process. The hub starts it; on another host a person or systemd does."""

import argparse
import os
import platform
import signal
import sys
import threading

from edged.cli import print_error
from edged.cli.hub_address import hub_of
from edged.cli.options import add_example, add_host, add_process_options
from edged.config import Config
from edged.config.load import load_config
from edged.errors import ConfigError, EdgedError
from edged.runtime.threads import limit_threads, multiply_in_one_thread
from edged.system import log
from edged.system.process_end import ON_REQUEST, end_with_parent


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the worker, the config and the hub."""
    parser.add_argument(
        "index",
        type=int,
        nargs="?",
        metavar="INDEX",
        help="index in the config's workers, from 0 (default: the worker of this host)",
    )
    add_process_options(parser)
    parser.add_argument(ON_REQUEST, action="store_true", help="used by the hub: read INDEX from standard input")
    add_host(parser, "this host's own name")
    add_example(parser, "edged worker --config edged.yaml", "edged worker 1 --config edged.yaml")


def run(arguments: argparse.Namespace) -> int:
    """Run jobs until the hub stops this process."""
    _exit_on_signals(ours={signal.SIGTERM} if end_with_parent() else {signal.SIGTERM, signal.SIGINT})
    log.configure()
    multiply_in_one_thread()
    config = load_config(arguments.config)
    if arguments.on_request:
        arguments.index = _read_index()
    index = _index(config, arguments)
    hub, curve = hub_of(config, arguments.config, arguments.hub)
    limit_threads(config.workers[index].threads)
    from edged.worker.process import run_worker

    # A job may still be on the device: its driver must not be unloaded meanwhile. And the hub must see the end
    # of the process, which has the reason, no later than that of its link.
    try:
        run_worker(config, index, hub, curve)
    except (EdgedError, MemoryError) as error:
        os._exit(print_error(error))
    sys.stderr.flush()
    os._exit(0)


def _read_index() -> int:
    """Import everything, then wait until the hub names the worker of this process, and return it.

    Exits if the hub closes standard input without naming one.
    """
    import edged.worker.process  # noqa: F401

    line = sys.stdin.readline()
    if not line.strip():
        os._exit(0)
    index = int(line)
    sys.argv[1:] = ["worker", str(index)]  # device locks name their holder by it
    sys.orig_argv[:] = [str(index) if each == ON_REQUEST else each for each in sys.orig_argv]  # to restart
    return index


def _index(config: Config, arguments: argparse.Namespace) -> int:
    """Return the given worker, or the one of this host. Raises ConfigError."""
    file, index, workers = arguments.config, arguments.index, config.workers
    if index is not None:
        if not 0 <= index < len(workers):
            raise ConfigError(f"{file}: there is no worker {index}: workers has {len(workers)} entries")
        return int(index)
    host = arguments.host or platform.node()
    names = {host, host.partition(".")[0]}
    found = [number for number, worker in enumerate(workers) if worker.host in names]
    if len(found) != 1:
        what = f"{len(found)} workers have" if found else "no worker has"
        raise ConfigError(f"{file}: {what} host: {host}; give the INDEX of the worker, from 0")
    return found[0]


def _exit_on_signals(ours: set[signal.Signals]) -> None:
    """Exit with code 0 at one of these signals, at once, even while a device's compiler runs.

    Under a hub Ctrl-C is not among them: it is for the hub, which stops its children in order.
    """
    if signal.SIGINT not in ours:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    # a handler would wait for the call that the main thread is in; a separate thread does not
    signal.pthread_sigmask(signal.SIG_BLOCK, ours)
    threading.Thread(target=_exit_on, args=(ours,), name="signals", daemon=True).start()


def _exit_on(ours: set[signal.Signals]) -> None:
    signal.sigwait(ours)
    os._exit(0)
