"""Keep secrets out of what `edged doctor` shows: values of the config, and URLs of cameras in sentences."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from edged.config import Config

SET = "(set, not shown)"
# keys whose values may be, or name, a secret: a password may have been pasted in place of a file's name
SECRET = frozenset(
    {"user", "password_file", "password_env", "key", "hub", "allow", "certificate", "client_ca", "ca"}
)
OF_PEERS = frozenset({"security"})  # sections of keys alone
URL = re.compile(r"\b((?:rtsps?|rtmps?|https?)://)([^/\s?#,]+)(\S*)", re.IGNORECASE)
WHOLE = re.compile(URL.pattern + ".*", re.IGNORECASE | re.DOTALL)  # with what is behind a space


def without_secrets(config: Config) -> Mapping[str, Any]:
    """Return the values that differ from the defaults, as for JSON, without secrets."""
    values = config.model_dump(mode="json", exclude_defaults=True)
    redacted: Mapping[str, Any] = _redacted(values)
    return redacted


def _redacted(value: Any, key: str = "") -> Any:
    if key in SECRET and value is not None:
        return SET
    if isinstance(value, dict):
        return {name: SET if name in OF_PEERS else _redacted(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [_redacted(inner, key) for inner in value]
    return WHOLE.sub(_host, value) if isinstance(value, str) else value


def without_paths(text: str, config: Config | None) -> str:
    """Shorten every URL in `text` to its host, as paths of cameras may hold passwords; first those of `config`."""
    for camera in config.cameras.values() if config else ():
        if WHOLE.match(str(camera.source)) and len(path := urlsplit(str(camera.source)).path) > 1:
            text = text.replace(path, "/…")
    return URL.sub(_host, text)


def _host(url: re.Match[str]) -> str:
    return f"{url[1]}{url[2].rpartition('@')[2]}{'/…' if url[3] else ''}"
