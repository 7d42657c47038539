"""The files of a board: fetched models, the link to the one that answers, and how far a roll-out is."""

import os
import secrets
from hashlib import sha256
from pathlib import Path

from pydantic import ConfigDict, Field, ValidationError

from edged import __version__
from edged.errors import ConfigError, EdgedError, ModelError
from edged.fleet.gate import Comparison, ModelFigures
from edged.fleet.records import Phase, Record, Rollout, SignedModel
from edged.system.files import refuse_newer, replace_file
from edged.system.paths import state_directory

SCHEMA = 1  # of `progress.json`
READ_BYTES = 1 << 20


class RolloutProgress(Record):
    """How far this board is with a roll-out.

    `order`: the record as this board first read it, which alone is verified and followed (None: an edged before
    it saved this).
    `before`: the target of the link before the promotion. `usual`: figures of the daemon's predictions before the
    trial.
    """

    model_config = ConfigDict(populate_by_name=True)

    schema_version: int = Field(SCHEMA, alias="schema")
    edged: str = Field(__version__, description="Version of edged that wrote it")
    rollout: str = ""
    order: Rollout | None = None
    phase: Phase = "idle"
    message: str = ""
    model: SignedModel | None = None
    before: str | None = None
    usual: ModelFigures | None = None
    trial: Comparison | None = None
    in_use: Comparison | None = None
    first_seq: int | None = None


class BoardFiles:
    """Fetched models in `models/SHA256/FILE`, and `progress.json`, below a folder of the node's state."""

    def __init__(self, link: Path, node: str) -> None:
        """`link`: `model.path` of the config."""
        self.link = link
        self.folder = state_directory() / node / "fleet"

    @property
    def target(self) -> str:
        """Return the file to which the link points. Raises ConfigError if it is no link."""
        if not self.link.is_symlink():
            raise ConfigError(
                f"{self.link}: model.path must be a link, which is replaced when a model is promoted: "
                f"mv {self.link.name} first-{self.link.name} && ln -s first-{self.link.name} {self.link.name}"
            )
        return os.readlink(self.link)

    def path_of(self, model: SignedModel) -> Path:
        """Return where the file of a model is kept."""
        return self.folder / "models" / model.sha256 / model.file

    def has(self, model: SignedModel) -> bool:
        """Return whether its file is here, whole."""
        path = self.path_of(model)
        return path.is_file() and sha256_of(path) == model.sha256

    def keep(self, model: SignedModel, fetched: Path) -> None:
        """Keep a fetched file under its name. Raises ModelError unless it has the signed size and hash."""
        size, found = fetched.stat().st_size, sha256_of(fetched)
        if size != model.size or found != model.sha256:
            fetched.unlink()
            raise ModelError(
                f"the file in the store is damaged: it has {size} bytes, SHA-256 {found[:12]}; signed are "
                f"{model.size} bytes, {model.sha256[:12]}"
            )
        path = self.path_of(model)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fetched.replace(path)

    def unfinished(self) -> Path:
        """Return a new path for a file that is being fetched; what an earlier fetch has left is removed."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for left in self.folder.glob("fetching-*"):
            left.unlink()
        return self.folder / f"fetching-{secrets.token_hex(4)}"

    def link_to(self, target: str) -> None:
        """Replace the link in one step, on disk when this returns. Raises EdgedError, also if it would dangle."""
        if not (self.link.parent / target).is_file():
            raise EdgedError(f"{self.link} stays as it is: there is no file {target}")
        unfinished = self.link.with_name(f".{self.link.name}-{secrets.token_hex(4)}")
        try:
            os.symlink(target, unfinished)
            unfinished.replace(self.link)
            folder = os.open(self.link.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            unfinished.unlink(missing_ok=True)
            raise EdgedError(f"{self.link} cannot be replaced: {error.strerror}") from None

    def forget_others(self, kept: str, before: str | None) -> None:
        """Remove fetched models, but the one with this SHA-256 and the one in the file `before`."""
        names = {kept, Path(before or "").parent.name}
        for folder in (self.folder / "models").glob("*"):
            if folder.name not in names:
                for file in folder.iterdir():
                    file.unlink()
                folder.rmdir()

    def progress(self) -> RolloutProgress:
        """Return what was saved; a file that cannot be read counts as none, since the roll-out is tried again.

        Raises NewerStateError: a newer edged may have more to undo than this one knows.
        """
        try:
            content = self._path.read_bytes()
            refuse_newer(self._path, content, SCHEMA)
            return RolloutProgress.model_validate_json(content)
        except (OSError, ValidationError):
            return RolloutProgress()

    def save(self, progress: RolloutProgress) -> None:
        """Save it, on disk when this returns. Raises OSError."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        written = progress.model_copy(update={"edged": __version__})
        with replace_file(self._path) as file:
            file.write(written.model_dump_json(by_alias=True, indent=2).encode() + b"\n")

    @property
    def _path(self) -> Path:
        return self.folder / "progress.json"


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits. Raises OSError."""
    digest = sha256()
    with path.open("rb") as file:
        while block := file.read(READ_BYTES):
            digest.update(block)
    return digest.hexdigest()
