"""Graphs kept for the next start, with flipped bits and cut ends: the model is always that of its file."""

import logging
import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from edged import config
from edged.model.package import load_model
from tests.model.graphs import assert_equal
from trials.fuzz.damage import damaged
from trials.fuzz.onnx_bases import BASES
from trials.fuzz.onnx_files import cache_in
from trials.fuzz.trial import Case


@contextmanager
def prepared() -> Iterator[Case]:
    """The case, and a folder for its files."""
    logging.getLogger("edged").addHandler(logging.NullHandler())
    with tempfile.TemporaryDirectory(prefix="edged-fuzz-") as folder, cache_in(Path(folder)):
        path = Path(folder) / "model.onnx"
        path.write_bytes(BASES[0].SerializeToString())
        yield CacheCase(path, Path(folder) / "edged" / "graphs")


class CacheCase:
    """The entries of a model in a cache folder."""

    def __init__(self, path: Path, cache: Path) -> None:
        self._wanted = config.ModelConfig(path=path)
        self._expected = load_model(self._wanted).graph
        self._entries = {entry: entry.read_bytes() for entry in sorted(cache.iterdir())}
        assert len(self._entries) == 2

    def __call__(self, chance: random.Random) -> str:
        for entry, content in self._entries.items():
            entry.write_bytes(content)
        entry = chance.choice(list(self._entries))
        entry.write_bytes(damaged(self._entries[entry], chance))
        assert_equal(load_model(self._wanted).graph, self._expected)
        return "right"
