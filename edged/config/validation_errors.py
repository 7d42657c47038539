"""Translate pydantic's errors about a config into plain words, each at its place in the file."""

import difflib
import re
from collections.abc import Iterable
from types import UnionType
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from edged.config import NAME
from edged.config.access import MQTT_TOPIC
from edged.config.fleet import SUBJECT
from edged.config.habits import instead_of
from edged.config.sections import PLAIN_NAME
from edged.config.states import DEVICE_CLASS
from edged.config.yaml_positions import Document, Mistake, Path, Value
from edged.errors import ConfigError
from edged.transport.address import HOST_AND_PORT, MQTT_ADDRESS, NATS_ADDRESS, ZMQ_ADDRESS

PATTERNS = {
    NAME: "a name of letters, digits, '.', '_' and '-', at most 64, the first a letter or digit",
    ZMQ_ADDRESS: "an address such as tcp://127.0.0.1:5570 or ipc:///run/edged/stream",
    HOST_AND_PORT: "an address such as 127.0.0.1:9464",
    MQTT_ADDRESS: "an address such as mqtts://HOST:8883 or mqtt://127.0.0.1:1883",
    NATS_ADDRESS: "an address such as tls://HOST:4222 or nats://127.0.0.1:4222",
    MQTT_TOPIC: "a topic such as edged or home/edged, without '+', '#' and blanks",
    PLAIN_NAME: "a name of letters, digits, '_' and '-', at most 64",
    DEVICE_CLASS: "a class of Home Assistant such as door or garage_door",
    SUBJECT: "a subject such as edged or site.edged, of letters, digits, '_', '-' and dots between them",
}
_EXPECTED = {
    "missing": "a value (it has no default)",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": "text",
    "string_too_short": "text that is not empty",
    "string_too_long": "text of at most {max_length} characters",
    "path_type": "a file name",
    "bool_type": "true or false",
    "literal_error": "{expected}",
    "greater_than": "more than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
    "too_short": "{min_length} or more entries",
    "too_long": "{max_length} or fewer entries",
    "tuple_type": "a list: [ … ]",
    "list_type": "a list: [ … ]",
    "dict_type": "keys and values below it",
    "model_type": "keys and values below it",
}
_SECRET = frozenset({"source", "user", "password_file", "password_env"})


def missing_section(file: object, section: str, example: str) -> ConfigError:
    """Return the error for a command that needs a section of the config."""
    return ConfigError(f"{file}: section {section} is missing: expected `{section}: {example}`")


def mistakes_of(error: ValidationError, document: Document, kind: type[BaseModel]) -> list[Mistake]:
    """Return every error of a file as a Mistake; the alternatives of a union are reported as one."""
    complaints: dict[Path, list[ErrorDetails]] = {}
    for each in error.errors(include_url=False):
        complaints.setdefault(_path(each, document), []).append(each)
    # the lists around them: an error inside a list is more precise than one about the list
    covered = {path[:at] for path in complaints for at, part in enumerate(path) if isinstance(part, int)}
    return [
        _mistake(path, alternatives, document, kind)
        for path, alternatives in complaints.items()
        if path not in covered
    ]


def _path(complaint: ErrorDetails, document: Document) -> Path:
    """Return the place of the error in the file's own keys: pydantic also names a union's branches."""
    path: Path = ()
    for part in complaint["loc"]:
        if (*path, part) in document.values:
            path = (*path, part)
    last = complaint["loc"][-1] if complaint["loc"] else ""
    return (*path, last) if complaint["type"] == "missing" else path


def _mistake(path: Path, alternatives: list[ErrorDetails], document: Document, kind: type[BaseModel]) -> Mistake:
    first = alternatives[0]
    match first["type"]:
        case "extra_forbidden":
            return Mistake(document.keys[path], path[:-1], _unknown_key(path, document.value, kind))
        case "missing":
            what = f"item {path[-1] + 1}" if isinstance(path[-1], int) else f"the key '{path[-1]}'"
            return Mistake(document.nearest(path[:-1]), path[:-1], f"{what} is missing")
        case "value_error":
            return Mistake(document.nearest(path), path, first["msg"].removeprefix("Value error, "))
    if "[key]" in first["loc"]:
        return Mistake(document.keys[path], path[:-1], f"'{path[-1]}': expected {_expected(first)}")
    expected = " or ".join(dict.fromkeys(_expected(each) for each in alternatives))
    value = _value_at(path, document.value)
    is_length = not {each["type"] for each in alternatives}.isdisjoint({"too_short", "too_long"})
    found = "" if is_length or _may_be_secret(path, value) else _found(value)
    instead = instead_of(path, value)
    hint = f"; {instead}" if instead else _in_quotes(value, alternatives) or _nearest_choice(value, alternatives)
    return Mistake(document.nearest(path), path, f"expected {expected}{found}{hint}")


def _may_be_secret(path: Path, value: Value) -> bool:
    """Return whether a message must not quote the value: a URL may hold a password wherever it was written."""
    return bool(_SECRET & set(path)) or (isinstance(value, str) and "://" in value and "@" in value)


def _expected(complaint: ErrorDetails) -> str:
    context = complaint.get("ctx", {})
    if complaint["type"] == "string_pattern_mismatch":
        return PATTERNS[context["pattern"]]
    template = _EXPECTED.get(complaint["type"])
    return template.format(**context) if template else complaint["msg"]


def _found(value: Value) -> str:
    if value is None or isinstance(value, list | dict):
        words = {type(None): "nothing", list: "a list", dict: "keys and values"}
        return f", found {words[type(value)]}"
    return f", found '{value[:60]}'" if isinstance(value, str) else f", found {_as_written(value)}"


def _in_quotes(value: Value, alternatives: Iterable[ErrorDetails]) -> str:
    is_text_wanted = any(each["type"] == "string_type" for each in alternatives)
    return (
        f": put it in quotes: '{_as_written(value)}'" if is_text_wanted and isinstance(value, int | float) else ""
    )


def _as_written(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _nearest_choice(value: Value, alternatives: Iterable[ErrorDetails]) -> str:
    choices = [
        choice
        for each in alternatives
        if each["type"] == "literal_error"
        for choice in re.findall(r"'([^']*)'", each.get("ctx", {})["expected"])
    ]
    return _did_you_mean(str(value), choices)


def _unknown_key(path: Path, value: Value, kind: type[BaseModel]) -> str:
    *section, last = path
    key, known = str(last), _keys_of(section, kind)
    if instead := instead_of(path, _value_at(path, value)):
        return f"unknown key '{key[:60]}'; {instead}"
    if not known:
        return f"unknown key '{key[:60]}': there are no settings here"
    nearest = _did_you_mean(key, known)
    return f"unknown key '{key[:60]}'" + (nearest or f"; expected one of: {', '.join(known)}")


def _did_you_mean(word: str, choices: Iterable[str]) -> str:
    nearest = difflib.get_close_matches(word.lower(), list(choices), n=1, cutoff=0.6)
    return f"; did you mean '{nearest[0]}'?" if nearest else ""


def _keys_of(section: Iterable[str | int], kind: Any) -> list[str]:
    """Return the keys that a section of this kind may have."""
    for part in section:
        inside = isinstance(kind, type) and issubclass(kind, BaseModel)
        kind = kind.model_fields[part].annotation if inside else _item_type(kind)
        if isinstance(kind, UnionType):  # an optional section
            kind = _item_type(kind)
    return list(kind.model_fields)


def _item_type(kind: Any) -> Any:
    """Return the section: `Camera` of dict[Name, Camera], `Worker` of tuple[Worker, ...], `Tls` of Tls | None."""
    return next(each for each in get_args(kind) if isinstance(each, type) and issubclass(each, BaseModel))


def _value_at(path: Path, value: Any) -> Any:
    for part in path:
        value = value[part]
    return value
