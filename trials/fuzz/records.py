"""Tuning records, as a board may get them from another: damaged text, and JSON that says something odd.

Whatever a record says, there is a choice for a layer, or the error that the device has none.
"""

import json
import logging
import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from edged.engine.selection import candidates
from edged.engine.tuning_records import chooser_for, read_record, user_record
from edged.errors import ConfigError, DeviceError
from tests.engine.records import BOARD, SITE, best, record, refused, unlike_rules
from trials.fuzz.damage import changed, damaged
from trials.fuzz.trial import Case


@contextmanager
def prepared() -> Iterator[Case]:
    """The case, and a folder for its files."""
    logging.getLogger("edged").addHandler(logging.NullHandler())
    with tempfile.TemporaryDirectory(prefix="edged-fuzz-") as folder:
        yield RecordCase(Path(folder))


class RecordCase:
    """The record of a board in the folder `state`."""

    def __init__(self, state: Path) -> None:
        self._state = state
        self._path = user_record(BOARD, state)
        self._path.parent.mkdir(parents=True)
        written = record(best(unlike_rules(0)), refused(unlike_rules(1)))
        self._document = json.loads(written.model_dump_json(by_alias=True))
        self._able = [str(one) for one in candidates(SITE)]

    def __call__(self, chance: random.Random) -> str:
        text = json.dumps(self._document if chance.random() < 0.3 else changed(self._document, chance)).encode()
        self._path.write_bytes(damaged(text, chance) if chance.random() < 0.3 else text)
        end = self._read()
        try:
            assert str(chooser_for(BOARD, self._state).choose(SITE)) in self._able
        except DeviceError:
            return f"{end}, nothing left to choose"
        return end

    def _read(self) -> str:
        try:
            read_record(self._path)
        except ConfigError as error:
            if str(self._path) not in str(error):
                raise
            return "refused"
        return "read"
