"""The versions taught on this node: their files, and which of them answers.

For the daemon and for `edged teach`; loads no NumPy. A version is a head for the model of the config: three files
by the hash of the first, `.onnx` (all of it, for any runtime), `.head` (the weights alone, see `model.head`) and
`.json` (this module's `Version`).
"""

from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from edged import __version__
from edged.errors import ModelError
from edged.system.files import refuse_newer, replace_file
from edged.system.paths import state_directory

SCHEMA: Final = 1  # of the files of a teach folder
REMEMBERED = 20  # promotions that can be rolled back
FLOAT = 4  # bytes

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Some = Annotated[int, Field(ge=1, le=1 << 20)]


class OpenFile(BaseModel):
    """A file of a teach folder, and the version of edged that wrote it (empty: unknown).

    Unknown keys, of newer versions, are ignored; a newer schema is refused.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False, populate_by_name=True)
    schema_version: Literal[1] = Field(SCHEMA, alias="schema")
    edged: str = ""


T = TypeVar("T", bound=OpenFile)


def load_open_file(path: Path, kind: type[T], failure: type[ModelError], remedy: str = "") -> T | None:
    """Read a file of a teach folder; None if there is none.

    Raises `failure` for one that cannot be read or is damaged, with the place in it and `remedy`; NewerStateError.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise failure(f"{path} cannot be read: {error.strerror}") from None
    refuse_newer(path, content, SCHEMA)
    try:
        return kind.model_validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "its text"
        raise failure(f"{path} is damaged: {place}: {first['msg']}{remedy}") from None


class Base(BaseModel):
    """The model that features come from."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    name: str
    sha256: Sha256


class Version(OpenFile):
    """A head. `sha256`: of the `.onnx`. `features`, `hidden`, and as many classes as `labels`: its shape."""

    sha256: Sha256
    name: str
    labels: Annotated[tuple[str, ...], Field(min_length=2, max_length=1000)]
    base: Base
    features: Some
    hidden: Some
    head_sha256: Sha256
    trained_at: float = 0.0
    seed: int = 0
    held_back: dict[str, Any] = Field(default_factory=dict)

    @property
    def head_bytes(self) -> int:
        """Return the size of the weights and biases of its two layers as float32."""
        classes = len(self.labels)
        return FLOAT * (self.hidden * (self.features + 1) + classes * (self.hidden + 1))

    def __str__(self) -> str:
        return f"{self.sha256[:12]} ({', '.join(self.labels)})"


class PromotedRecord(OpenFile):
    """The version that answers; None: the config's model. `before`: those before it, newest first."""

    version: Sha256 | None = None
    before: tuple[Sha256 | None, ...] = ()

    def promote(self, version: str) -> Self:
        """Return the record after `version` was promoted."""
        before = (self.version, *self.before)[:REMEMBERED]
        return self.model_copy(update={"version": version, "before": before, "edged": __version__})

    def roll_back(self) -> Self:
        """Return the record after a roll-back. Raises ModelError if no version was promoted before."""
        if not self.before:
            raise ModelError("there is nothing to go back to: no version was promoted before")
        update = {"version": self.before[0], "before": self.before[1:], "edged": __version__}
        return self.model_copy(update=update)


def teach_folder(node: str) -> Path:
    """Return the folder of crops and versions of `node`."""
    return state_directory() / node / "teach"


def version_path(folder: Path, version: str, kind: Literal["onnx", "head", "json"]) -> Path:
    """Return a file of a version in a teach folder."""
    return folder / "versions" / f"{version}.{kind}"


def load_version(folder: Path, version: str) -> Version:
    """Load a version. Raises ModelError if it is absent, damaged, or does not match its name, NewerStateError."""
    path = version_path(folder, version, "json")
    found = _load(path, Version)
    if found is None:
        raise ModelError(
            f"there is no version {version[:12]} ({path} is absent): `edged teach versions CONFIG` lists them"
        )
    if found.sha256 != version:
        raise ModelError(f"{path} is of version {found.sha256[:12]}: it was renamed; train it again")
    return found


def load_head(folder: Path, version: Version) -> bytes:
    """Return the weights of a version, as `model.head` writes them.

    Raises ModelError if they are absent or damaged.
    """
    path = version_path(folder, version.sha256, "head")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelError(f"{path} cannot be read ({error.strerror}): train it again") from None
    if len(content) != version.head_bytes or sha256(content).hexdigest() != version.head_sha256:
        raise ModelError(f"{path} is damaged: it is not what {path.stem[:12]}.json says; train it again")
    return content


def load_promoted(folder: Path) -> PromotedRecord:
    """Return which version answers; none if there is no file. Raises ModelError if damaged, NewerStateError."""
    return _load(_promoted_path(folder), PromotedRecord) or PromotedRecord()


def save_promoted(folder: Path, promoted: PromotedRecord) -> None:
    """Write the record to disk, in one step. Raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with replace_file(_promoted_path(folder)) as file:
        file.write(promoted.model_dump_json(by_alias=True, indent=2).encode() + b"\n")


def _promoted_path(folder: Path) -> Path:
    return folder / "promoted.json"


def _load(path: Path, kind: type[T]) -> T | None:
    return load_open_file(path, kind, ModelError, remedy="; remove it or restore a copy")
