"""`edged worker`: one worker process. The hub starts it; a person may, to see why it does not start."""

import argparse
import os
import signal
import sys
import threading
from pathlib import Path

from edged import child, log
from edged.cli import tell
from edged.config_file import load_config
from edged.errors import ConfigError, EdgedError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the verb."""
    parser.add_argument("index", type=int, metavar="INDEX", help="which of the config's workers, from 0")
    parser.add_argument("--config", type=Path, required=True, metavar="FILE")
    parser.add_argument("--hub", required=True, metavar="ADDRESS", help="ZeroMQ address of the hub")


def run(arguments: argparse.Namespace) -> int:
    """Serve until the hub says stop."""
    child.end_with_parent()
    _exit_when_told()
    log.configure()
    config = load_config(arguments.config)
    if not 0 <= arguments.index < len(config.workers):
        raise ConfigError(
            f"{arguments.config}: there is no worker {arguments.index}, workers: has {len(config.workers)}"
        )
    from edged.worker.process import run_worker

    # A job may still be on the device: its driver is not to be taken down under it. And the hub is to see the end
    # of the process, which says why, no later than that of its link.
    try:
        run_worker(config, arguments.index, arguments.hub)
    except (EdgedError, MemoryError) as error:
        os._exit(tell(error))
    sys.stderr.flush()
    os._exit(0)


def _exit_when_told() -> None:
    """SIGTERM ends the process at once and well, even while a device's compiler runs; Ctrl-C is the hub's."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # a handler would have to wait for the call that the main thread is in; a thread of its own does not
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    threading.Thread(target=_exit_on_sigterm, name="sigterm", daemon=True).start()


def _exit_on_sigterm() -> None:
    signal.sigwait({signal.SIGTERM})
    os._exit(0)
