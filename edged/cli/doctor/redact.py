"""A config without what could be a secret, to be sent to others."""

import re
from collections.abc import Mapping
from typing import Any

from edged.config import Config

SET = "(set, not shown)"
# keys whose values may be, or name, a secret: a password may have been pasted in place of a file's name
SECRET = frozenset(
    {"user", "password_file", "password_env", "key", "hub", "allow", "certificate", "client_ca", "ca"}
)
OF_PEERS = frozenset({"security"})  # sections of keys alone
URL = re.compile(r"\b((?:rtsps?|rtmps?|https?)://)([^/\s?#]+)[/?#][^\s,]*", re.IGNORECASE)


def without_secrets(config: Config) -> Mapping[str, Any]:
    """Return the values that differ from the defaults, as for JSON, without secrets."""
    shown = config.model_dump(mode="json", exclude_defaults=True)
    redacted: Mapping[str, Any] = _redacted(shown)
    return redacted


def _redacted(value: Any, key: str = "") -> Any:
    if key in SECRET and value is not None:
        return SET
    if isinstance(value, dict):
        return {name: SET if name in OF_PEERS else _redacted(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [_redacted(inner, key) for inner in value]
    return without_paths(value) if isinstance(value, str) else value


def without_paths(text: str) -> str:
    """Shorten every URL of a camera in `text` to its host: paths may hold passwords."""
    return URL.sub(lambda found: f"{found[1]}{found[2].rpartition('@')[2]}/…", text)
