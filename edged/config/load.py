"""Read a config: all mistakes at once, each with file, line and column or variable; paths are made absolute."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from edged.config import (
    CameraConfig,
    Config,
    FleetConfig,
    NatsConfig,
    OperatorConfig,
    SecurityConfig,
    Tls,
    ViewConfig,
)
from edged.config.overrides import Override, add_drop_in, add_override, overrides_of
from edged.config.validation_errors import mistakes_of
from edged.config.yaml_positions import Document, Mistake, Value, read
from edged.errors import ConfigError
from edged.system.files import replace_file
from edged.transport.keys import CREDENTIAL

MAX_BYTES = 1_000_000
MAX_PASSWORD_BYTES = 4_096
MAX_SHOWN = 20
EXAMPLE = "cameras: {demo: {source: 'synthetic:digits'}}"

T = TypeVar("T", bound=BaseModel)

MAX_LINKS = 40  # as in Linux
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")  # rtsp://…, synthetic:…


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
    return with_absolute_paths(_merged(path, settings), path.absolute().parent)


def load_snapshot(path: Path) -> Config:
    """Return the config that `save_config` wrote: nothing overrides it. Raises ConfigError."""
    return with_absolute_paths(load_as(Config, path, EXAMPLE), path.absolute().parent)


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
    found = load_as(OperatorConfig, path, "nats: {servers: ['tls://HOST'], nkey: FILE}")
    return _nats(found.nats, path.absolute().parent) or found.nats


def model_link(path: Path) -> Path:
    """Return `model.path` of a config, also if it is a link. Raises ConfigError if there is none."""
    model = _merged(path, ()).model.path
    if model is None:
        raise ConfigError(
            f"{path}: model.path is missing: expected a link to an ONNX file, which a roll-out replaces"
        )
    return absolute(model, path.absolute().parent) or model


def load_as(kind: type[T], path: Path, example: str) -> T:
    """Load a YAML file as a `kind`; `example`: the shortest valid file. Raises ConfigError."""
    return _checked(read(_read_limited(path, MAX_BYTES, "config file")), kind, path, example)


def _merged(path: Path, settings: Sequence[Override]) -> Config:
    """Return the config with everything that overrides its file, and the paths as they are written."""
    return _checked(merged_document(path, settings), Config, path, EXAMPLE)


def merged_document(path: Path, settings: Sequence[Override]) -> Document:
    """Read the file and everything that overrides it. Raises ConfigError if one cannot be read."""
    document = read(_read_limited(path, MAX_BYTES, "config file"))
    if isinstance(document.value, dict) or not (document.value or document.mistakes):  # else the file is to mend
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


def _checked(document: Document, kind: type[T], path: Path, example: str) -> T:
    """Return the document of the file `path` as a `kind`. Raises ConfigError."""
    if not isinstance(document.value, dict) and not document.mistakes:
        found = "the file is empty" if document.value is None else "this is not a mapping of keys to values"
        document.mistakes.append(Mistake(document.nearest(()), (), f"{found}; the least is: {example}"))
    section = _validated(document, kind)
    if document.mistakes or section is None:
        raise ConfigError(_all_mistakes(path, document.mistakes))
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


def check_passwords(config: Config) -> None:
    """Read the passwords of this host's cameras and of `notify` once. Raises ConfigError."""
    for camera in config.cameras.values():
        if camera.host is None:
            password_of(camera)
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


def _validated(document: Document, kind: type[T]) -> T | None:
    """Return the file as a `kind`, or None with the mistakes added to the document's."""
    if not isinstance(document.value, dict):
        return None
    try:
        return validated(document.value, kind)
    except ValidationError as error:
        document.mistakes.extend(mistakes_of(error, document, kind))
        return None


def validated(value: Mapping[str, Value], kind: type[T]) -> T:
    """Return the values of a file as a `kind`. Raises ValidationError."""
    # through JSON: strict mode there rejects "5" for 5 and true for 1, but still allows lists and paths
    context = {"security": value.get("security") is not None}  # `publish` is validated against it
    return kind.model_validate_json(json.dumps(value), strict=True, context=context)


def _all_mistakes(path: Path, mistakes: list[Mistake]) -> str:
    lines = lines_of(path, mistakes)
    return lines[0] if len(lines) == 1 else "\n".join([f"{path} has {len(mistakes)} mistakes:", *lines])


def lines_of(path: Path, mistakes: list[Mistake]) -> list[str]:
    """Return the mistakes as `file:line:column: place: what is wrong`, in the order of the file."""
    by_place = sorted(mistakes, key=lambda each: (each.place.source, each.place.line, each.place.column))
    left_out = [f"… and {len(by_place) - MAX_SHOWN} more"] * (len(by_place) > MAX_SHOWN)
    return [*(_line(path, each) for each in by_place[:MAX_SHOWN]), *left_out]


def _line(path: Path, mistake: Mistake) -> str:
    where = mistake.place
    place = ".".join(map(str, mistake.path)).replace("\n", " ")
    position = f":{where.line}:{where.column}" if where.line else ""
    return f"{where.source or path}{position}: {place + ': ' if place else ''}{mistake.message}"


def with_absolute_paths(config: Config, folder: Path) -> Config:
    """Resolve relative paths against the file's folder, independent of the working directory."""
    model = config.model.model_copy(
        update={"path": _target(config.model.path, folder), "labels": absolute(config.model.labels, folder)}
    )
    journal = config.journal.model_copy(update={"path": absolute(config.journal.path, folder)})
    energy = config.energy.model_copy(update={"sysfs": absolute(config.energy.sysfs, folder)})
    cameras = {name: _camera(camera, folder) for name, camera in config.cameras.items()}
    security = _security(config.security, folder)
    metrics = config.metrics.model_copy(update={"tls": _tls(config.metrics.tls, folder)})
    mqtt = config.mqtt and config.mqtt.model_copy(
        update={
            key: absolute(getattr(config.mqtt, key), folder)
            for key in ("password_file", "ca", "certificate", "key")
        }
    )
    notify = config.notify and config.notify.model_copy(
        update={
            key: absolute(getattr(config.notify, key), folder) for key in ("password_file", "token_file", "ca")
        }
    )
    sections = {"model": model, "journal": journal, "security": security, "metrics": metrics, "energy": energy}
    return config.model_copy(
        update={
            "cameras": cameras,
            "mqtt": mqtt,
            "notify": notify,
            "nats": _nats(config.nats, folder),
            "fleet": _fleet(config.fleet, folder),
            "view": _view(config.view, folder),
            **sections,
        }
    )


def _view(view: ViewConfig, folder: Path) -> ViewConfig:
    teachers = {name: absolute(path, folder) or path for name, path in view.teachers.items()}
    return view.model_copy(update={"teachers": teachers})


def _fleet(fleet: FleetConfig | None, folder: Path) -> FleetConfig | None:
    if fleet is None:
        return None
    return fleet.model_copy(update={"signers": tuple(absolute(path, folder) or path for path in fleet.signers)})


def _nats(nats: NatsConfig | None, folder: Path) -> NatsConfig | None:
    if nats is None:
        return None
    secrets = {key: absolute(getattr(nats, key), folder) for key in ("credentials", "nkey", "password_file")}
    tls = nats.tls and nats.tls.model_copy(update={key: absolute(path, folder) for key, path in nats.tls})
    return nats.model_copy(update={**secrets, "tls": tls})


def _security(security: SecurityConfig | None, folder: Path) -> SecurityConfig | None:
    if security is None:
        return None
    lists = {
        role: tuple(absolute(path, folder) or path for path in getattr(security, role))
        for role in ("allow", "cameras", "workers")
    }
    own = {"key": absolute(security.key, folder), "hub": absolute(security.hub, folder)}
    return security.model_copy(update={**lists, **own})


def _tls(tls: Tls | None, folder: Path) -> Tls | None:
    if tls is None:
        return None
    return tls.model_copy(update={key: absolute(path, folder) for key, path in tls if path})


def _camera(camera: CameraConfig, folder: Path) -> CameraConfig:
    return camera.model_copy(
        update={
            "source": _absolute_source(camera.source, folder),
            "password_file": absolute(camera.password_file, folder),
            "tls": camera.tls and camera.tls.model_copy(update={"ca": absolute(camera.tls.ca, folder)}),
        }
    )


def _absolute_source(source: int | str, folder: Path) -> int | str:
    """Make a file or folder absolute; a V4L2 index, a URL and synthetic:… stay unchanged."""
    if isinstance(source, int) or source.isdecimal():
        return source
    path = str(absolute(Path(source), folder))
    return source if _SCHEME.match(source) and not os.path.exists(path) else path


def _target(path: Path | None, folder: Path) -> Path | None:
    """Follow a link: another target is another model, and a running hub keeps the one that it has loaded.

    A target without the link's suffix is an entry of a store, as of Hugging Face, beside which the model's data is
    not: the link, which stays as it is there, is returned.
    """
    path = absolute(path, folder)
    for _ in range(MAX_LINKS):
        if path is None or not path.is_symlink():
            break
        target = path.parent.resolve() / os.readlink(path)
        if target.suffix != path.suffix:
            break
        path = Path(os.path.normpath(target.parent.resolve() / target.name))
    return path


def absolute(path: Path | None, folder: Path) -> Path | None:
    if path is None or str(path).startswith(CREDENTIAL):
        return path
    return Path(os.path.normpath(folder / os.path.expanduser(path)))
