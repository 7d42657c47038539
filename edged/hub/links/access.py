"""Who may come where, by key."""

from collections.abc import Mapping

from edged.config import Security
from edged.hub.links.link import OUTER
from edged.keys import load_allowed

Allowed = Mapping[str, Mapping[bytes, str]]  # by endpoint and key: who it is, `NAME`, or `camera,worker NAME`


def allowed_by(security: Security | None) -> Allowed:
    """What the config allows. Raises ConfigError for a key file that cannot be used."""
    if security is None:
        return {}
    subscribers = load_allowed(security.allow)
    roles = {"camera": load_allowed(security.cameras), "worker": load_allowed(security.workers)}
    names = {key: name for allowed in roles.values() for key, name in allowed.items()}
    peers = {
        key: f"{','.join(role for role, allowed in roles.items() if key in allowed)} {name}"
        for key, name in names.items()
    }
    return {"publish.address": subscribers, "publish.replay": subscribers, OUTER: peers}
