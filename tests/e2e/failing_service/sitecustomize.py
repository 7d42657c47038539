"""Lets the journal_sync service of a hub fail again and again, while a file is there.

Python imports this at its start where the folder is on PYTHONPATH. EDGED_TEST_SERVICE: the file.
"""

import os
import sys
from pathlib import Path
from typing import Any


def fail_while_there(trigger: Path) -> None:
    """Raise wherever the service looks whether it is to stop, which it does all the time."""
    from edged.hub.journal.writer import JournalSync

    def is_stopping(sync: Any) -> bool:
        if trigger.exists():
            raise RuntimeError("injected")
        return bool(vars(sync)["_stopping"])

    def stop(sync: Any, value: bool) -> None:
        vars(sync)["_stopping"] = value

    JournalSync._stopping = property(is_stopping, stop)  # type: ignore[assignment]


if "run" in sys.orig_argv and "EDGED_TEST_SERVICE" in os.environ:
    fail_while_there(Path(os.environ["EDGED_TEST_SERVICE"]))
