"""Journals of the tests: open, fill and read them."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from edged.config import JournalConfig as Settings
from edged.hub.journal.journal import Journal
from edged.hub.journal.reader import JournalReader
from edged.hub.journal.schema import Row
from tests.hub.pipeline import new_services

PATIENT_S = 10.0  # the longest that may be configured, for a machine that is crowded


@contextmanager
def a_journal(path: Path, *, private: bool = False, **settings: Any) -> Iterator[Journal]:
    limits = Settings(**{"max_wait_s": PATIENT_S, "max_predictions": 1000} | settings)
    journal = Journal(path, limits, new_services(), private=private)
    try:
        yield journal
    finally:
        journal.close()


def fill(journal: Journal, predictions: int, *, at: float | None = None, size: int = 0) -> None:
    for _ in range(predictions):
        seq = journal.next_seq
        json = b'{"seq":%d}' % seq + b" " * size
        reason = journal.append([Row(seq, time.time() if at is None else at + seq, json)])
        assert reason is None


def numbers(path: Path) -> list[int]:
    """Return the numbers of all predictions in a journal, each row of which is whole."""
    kept: list[int] = []
    first: int | None = 0
    while first is not None:
        page = JournalReader(path).page(first, None, None, limit=1_000_000)
        assert not page.damaged
        kept += (int(json.strip()[7:-1]) for json in page.predictions)
        first = page.next_seq
    return kept
