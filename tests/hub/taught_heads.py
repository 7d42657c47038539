"""Versions in a teach folder."""

from hashlib import sha256
from pathlib import Path

from edged.model.head_versions import Base, Version, version_path
from tests.hub.peers import MODEL

FEATURES, HIDDEN = 3, 2


def keep_version(
    folder: Path, content: bytes, labels: tuple[str, ...], base: Base, layers: tuple[int, int]
) -> str:
    """Write a version with this head into a teach folder; return its name. `layers`: inputs, hidden."""
    name = sha256(content).hexdigest()
    features, hidden = layers
    version = Version(
        sha256=name, name="door", labels=labels, base=base, features=features, hidden=hidden, head_sha256=name
    )
    assert len(content) == version.head_bytes
    version_path(folder, name, "json").parent.mkdir(parents=True, exist_ok=True)
    version_path(folder, name, "json").write_text(version.model_dump_json(by_alias=True))
    version_path(folder, name, "head").write_bytes(content)
    return name


def keep_unread_version(folder: Path, *labels: str, base: str = MODEL.sha256) -> str:
    """Write a version with these labels for the hub, which reads no weights: any bytes will do."""
    content = repr(labels).encode().ljust(4 * (HIDDEN * (FEATURES + 1) + len(labels) * (HIDDEN + 1)), b".")
    return keep_version(folder, content, labels, Base(name=MODEL.name, sha256=base), (FEATURES, HIDDEN))
