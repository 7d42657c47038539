"""Start the process again where a start has filled the cache of programs.

A compiler inside a driver keeps its memory until the process ends (PoCL's LLVM: 150 MB), for work that is done.
A process that finds every program in the cache never loads it, and is there within a second.
"""

import logging
import os
import sys
from pathlib import Path

ONCE = "EDGED_STARTED_AGAIN"  # in the environment: never start again twice, whatever the cache does

log = logging.getLogger("edged.worker")


def programs_in(cache: Path) -> frozenset[str]:
    """The names of the files in a cache folder, which need not exist."""
    return frozenset(file.name for file in cache.glob("*"))


def start_again_if_compiled(cache: Path, before: frozenset[str]) -> None:
    """Replace this process by the same command if `cache` has more programs than `before`; else return.

    Call it while no connection is open. What the kernel was told of the process stays (see `child`).
    """
    if os.environ.get(ONCE) or programs_in(cache) <= before:
        return
    log.info("compiled programs are cached now: starting again without the compiler's memory")
    sys.stderr.flush()
    os.environ[ONCE] = "1"
    os.closerange(3, 1024)  # not every driver closes its device for the next program
    os.execv(sys.executable, sys.orig_argv)  # noqa: S606 (our own command line)
