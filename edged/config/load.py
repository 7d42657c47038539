"""Read a config: all mistakes at once, each with file, line and column or variable; paths are made absolute."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from edged.config import CameraConfig, Config, NatsConfig, OperatorConfig
from edged.config.overrides import Override, add_drop_in, add_override, overrides_of
from edged.config.paths import absolute
from edged.config.validation_errors import mistakes_of
from edged.config.yaml_positions import Document, Mistake, Value, read
from edged.errors import ConfigError
from edged.system.files import replace_file

MAX_BYTES = 1_000_000
MAX_PASSWORD_BYTES = 4_096
MAX_SHOWN = 20
EXAMPLE = "cameras: {demo: {source: 'synthetic:digits'}}"

T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class ConfigSource:
    """What a config is read from, again at each reload: a file with its drop-ins, variables, and `--set`."""

    path: Path
    settings: tuple[Override, ...] = ()

    def load(self) -> Config:
        """Return the config. Raises ConfigError."""
        return load_config(self.path, self.settings)

    def files(self) -> list[Path]:
        """List the file and its drop-ins."""
        return [self.path, *drop_ins(self.path)]

    def names(self) -> list[str]:
        """Name everything that the config is from: files, variables and settings, the last one prevailing."""
        overrides = (*overrides_of(os.environ), *self.settings)
        return [*map(str, self.files()), *(override.source for override in overrides)]


def load_config(path: Path, settings: Sequence[Override] = ()) -> Config:
    """Return the config in a YAML file, with its drop-ins, the variables of the environment and `settings`.

    Relative paths are resolved against the file's folder. Raises ConfigError, which lists every mistake as
    `file:line:column: place: what is wrong`, or with the variable or `--set` in place of the file.
    """
    return _checked(merged_document(path, settings), Config, path, EXAMPLE, path.absolute().parent)


def load_snapshot(path: Path) -> Config:
    """Return the config that `save_config` wrote: nothing overrides it. Raises ConfigError."""
    return load_as(Config, path, EXAMPLE)


def drop_ins(path: Path) -> list[Path]:
    """List the drop-ins of a config file in order of name: `edged.d/*.yaml` beside `edged.yaml`.

    Raises ConfigError if there is such a folder, but it cannot be read, or a file in it has the suffix .yml.
    """
    folder = path.with_suffix(".d")
    try:
        names = sorted(os.listdir(folder))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise ConfigError(f"{folder}: expected a folder of drop-ins: {error.strerror}") from None
    if unread := [name for name in names if name.endswith(".yml")]:
        raise ConfigError(f"{folder / unread[0]}: drop-ins end in .yaml: rename this file")
    return [folder / name for name in names if name.endswith(".yaml") and not name.startswith(".")]


def load_operator(path: Path) -> NatsConfig:
    """Return the servers that the file of a fleet's operator names. Raises ConfigError."""
    return load_as(OperatorConfig, path, "nats: {servers: ['tls://HOST'], nkey: FILE}").nats


def model_link(path: Path) -> Path:
    """Return `model.path` of a config, also if it is a link. Raises ConfigError if there is none."""
    model = _checked(merged_document(path, ()), Config, path, EXAMPLE, folder=None).model.path
    if model is None:
        raise ConfigError(
            f"{path}: model.path is missing: expected a link to an ONNX file, which a roll-out replaces"
        )
    return absolute(model, path.absolute().parent)


def load_as(kind: type[T], path: Path, example: str) -> T:
    """Load a YAML file as a `kind`; `example`: the shortest valid file.

    Paths are resolved against its folder. Raises ConfigError.
    """
    document = read(_read_limited(path, MAX_BYTES, "config file"))
    return _checked(document, kind, path, example, path.absolute().parent)


def merged_document(path: Path, settings: Sequence[Override]) -> Document:
    """Read the file and everything that overrides it. Raises ConfigError if one cannot be read."""
    if path.suffix == ".onnx":
        way_out = f"name it there as model: {{path: {path.name}}}; `edged inspect {path}` describes it"
        raise ConfigError(f"{path}: this is a model, expected a config file: {way_out}")
    document = read(_read_limited(path, MAX_BYTES, "config file"))
    if isinstance(document.value, dict) or not (
        document.value or document.mistakes
    ):  # otherwise report the file's own errors first
        _merge_others(document, path, (*overrides_of(os.environ), *settings))
    return document


def _merge_others(document: Document, path: Path, overrides: Sequence[Override]) -> None:
    before: set[str] = set()
    for each in drop_ins(path):
        document.value = document.value or {}
        add_drop_in(document, str(each), _read_limited(each, MAX_BYTES, "config file"), frozenset(before))
        before.add(str(each))
    for override in overrides:
        document.value = document.value or {}
        add_override(document, override)


def _checked(document: Document, kind: type[T], path: Path, example: str, folder: Path | None) -> T:
    """Return the document of the file `path` as a `kind`. Raises ConfigError.

    `folder`: that relative paths are resolved against; None: they stay as they are written.
    """
    if not isinstance(document.value, dict) and not document.mistakes:
        found = "the file is empty" if document.value is None else "this is not a mapping of keys to values"
        document.mistakes.append(Mistake(document.nearest(()), (), f"{found}; the least is: {example}"))
    section = _validated(document, kind, folder)
    if document.mistakes or section is None:
        lines, count = lines_of(path, document.mistakes), len(document.mistakes)
        raise ConfigError(lines[0] if len(lines) == 1 else "\n".join([f"{path} has {count} mistakes:", *lines]))
    return section


def save_config(config: Config, path: Path) -> None:
    """Write a file that `load_config` reads as the same config, in one step, readable by this user only.

    Raises OSError.
    """
    with replace_file(path, durable=False) as file:
        file.write(config.model_dump_json(exclude_defaults=True).encode())  # no larger than the original


def password_of(camera: CameraConfig) -> str | None:
    """Return the camera's password from its file or environment variable; None if the config names neither.

    Raises ConfigError if it cannot be read. Never put the result into a message.
    """
    if camera.password_env is not None:
        password = os.environ.get(camera.password_env, "")
        place = f"the environment variable {camera.password_env}"
    elif camera.password_file is not None:
        return password_in(camera.password_file)
    else:
        return None
    return _checked_password(password, place)


def key_of(camera: CameraConfig) -> str | None:
    """Return the key that requests over HTTP must have; None: they need none.

    Raises ConfigError if it cannot be read. Never put the result into a message.
    """
    file = camera.requests and camera.requests.key_file
    return password_in(file) if file else None


def check_passwords(config: Config) -> None:
    """Read the passwords and keys of this host's cameras and of `notify` once. Raises ConfigError."""
    for camera in config.cameras.values():
        if camera.host is None:
            password_of(camera)
            key_of(camera)
    if config.notify:
        for file in filter(None, (config.notify.password_file, config.notify.token_file)):
            password_in(file)


def password_in(path: Path) -> str:
    """Return the password in a file. Raises ConfigError. Never put the result into a message."""
    password = _read_limited(path, MAX_PASSWORD_BYTES, "password file").rstrip("\r\n")
    return _checked_password(password, str(path))


def _checked_password(password: str, place: str) -> str:
    if not password or not password.isprintable():
        raise ConfigError(f"{place}: expected a password on one line, and nothing else")
    return password


def json_schema() -> str:
    """Return the JSON Schema of the config file, for editors: the text of edged/edged.schema.json."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Config.model_json_schema(),
        "title": "The config file of edged",
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _read_limited(path: Path, limit: int, what: str) -> str:
    """Return the text of a regular file of UTF-8. Raises ConfigError, which never quotes what the file holds."""
    if os.path.exists(path) and not os.path.isfile(path):
        found = "a folder" if os.path.isdir(path) else "no regular file"
        raise ConfigError(f"{path}: expected a {what}, found {found}")
    try:
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"{path}: cannot read this {what}: {reason}") from None
    if len(content) > limit:
        raise ConfigError(f"{path}: expected a {what} of at most {limit} bytes")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: expected UTF-8 text; byte {error.start} is none") from None


def _validated(document: Document, kind: type[T], folder: Path | None) -> T | None:
    """Return the file as a `kind`, or None with the mistakes added to the document's."""
    if not isinstance(document.value, dict):
        return None
    try:
        return validated(document.value, kind, folder)
    except ValidationError as error:
        document.mistakes.extend(mistakes_of(error, document, kind))
        return None


def validated(value: Mapping[str, Value], kind: type[T], folder: Path | None) -> T:
    """Return the values of a file in `folder` as a `kind`. Raises ValidationError."""
    # through JSON: strict mode there rejects "5" for 5 and true for 1, but still allows lists and paths
    # `publish` is validated against `security`, paths against `folder`
    context = {"security": value.get("security") is not None, "folder": folder}
    return kind.model_validate_json(json.dumps(value), strict=True, context=context)


def lines_of(path: Path, mistakes: list[Mistake]) -> list[str]:
    """Return the mistakes as `file:line:column: place: what is wrong`, in the order of the file."""
    in_order = sorted(mistakes, key=lambda each: (each.position.source, each.position.line, each.position.column))
    left_out = [f"… and {len(in_order) - MAX_SHOWN} more"] * (len(in_order) > MAX_SHOWN)
    return [*(_line(path, each) for each in in_order[:MAX_SHOWN]), *left_out]


def _line(path: Path, mistake: Mistake) -> str:
    position, keys = mistake.position, ".".join(map(str, mistake.path)).replace("\n", " ")
    where = f":{position.line}:{position.column}" if position.line else ""
    return f"{position.source or path}{where}: {keys + ': ' if keys else ''}{mistake.message}"
