"""Config files: damaged text, and YAML that says something odd. What is read is saved and read again."""

import json
import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from edged.config.load import load_config, save_config
from edged.errors import ConfigError
from trials.fuzz.damage import changed, damaged
from trials.fuzz.trial import Case

EXAMPLES = sorted((Path(__file__).parents[2] / "configs").glob("*.yaml"))
STRUCTURE = (
    b"- ",
    b": ",
    b"{",
    b"[",
    b"&a ",
    b"*a",
    b"!!python/object:os.system ",
    b"<<: ",
    b"? ",
    b"---\n",
    b"\t",
    b"|\n",
)


@contextmanager
def prepared() -> Iterator[Case]:
    """The case, and a folder for its files."""
    with tempfile.TemporaryDirectory(prefix="edged-fuzz-") as folder:
        yield ConfigCase(Path(folder))


class ConfigCase:
    """Files `config.yaml` in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "config.yaml"
        self.saved = folder / "saved.json"
        self.texts = [example.read_bytes() for example in EXAMPLES]
        self.documents = [yaml.safe_load(text) for text in self.texts]

    def __call__(self, chance: random.Random) -> str:
        self.path.write_bytes(self._content(chance))
        try:
            config = load_config(self.path)
        except ConfigError as error:
            return self._refused(str(error))
        save_config(config, self.saved)
        assert load_config(self.saved) == config
        return "read"

    def _content(self, chance: random.Random) -> bytes:
        text = chance.choice(self.texts)
        match chance.randrange(10):
            case 0 | 1:
                return damaged(text, chance)
            case 2 | 3:
                place = chance.randrange(len(text))
                return text[:place] + chance.choice(STRUCTURE) + text[place:]
            case _:
                return json.dumps(changed(chance.choice(self.documents), chance)).encode()

    def _refused(self, reason: str) -> str:
        assert str(self.path) in reason, reason
        assert len(reason) < 50_000
        return "refused"
