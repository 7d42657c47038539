"""Versions for the tests of the hub, which reads no weights: any bytes will do."""

from hashlib import sha256
from pathlib import Path

from edged.model.head_versions import Base, Version, version_path
from tests.hub.peers import MODEL

FEATURES, HIDDEN = 3, 2


def keep_lesson(folder: Path, *labels: str, base: str = MODEL.sha256) -> str:
    """A version on disk that says these labels, for what is taught in `folder`; its name."""
    head = repr(labels).encode().ljust(4 * (HIDDEN * (FEATURES + 1) + len(labels) * (HIDDEN + 1)), b".")
    digest = sha256(head).hexdigest()
    version = Version(
        sha256=digest,
        name="door",
        labels=labels,
        base=Base(name=MODEL.name, sha256=base),
        features=FEATURES,
        hidden=HIDDEN,
        head_sha256=digest,
    )
    assert len(head) == version.head_bytes
    version_path(folder, digest, "json").parent.mkdir(parents=True, exist_ok=True)
    version_path(folder, digest, "json").write_text(version.model_dump_json(by_alias=True))
    version_path(folder, digest, "head").write_bytes(head)
    return digest
