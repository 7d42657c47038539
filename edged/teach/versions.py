"""Versions on disk: write, list, and delete the oldest."""

from hashlib import sha256
from pathlib import Path
from typing import Any

from edged import __version__
from edged.clock import wall_s
from edged.errors import ModelError, NewerStateError
from edged.model.head import Head, with_head
from edged.model.head_versions import Base, Version, load_promoted, load_version, version_path
from edged.model.package import Model
from edged.teach.store_files import save
from edged.train.export import to_onnx

KEPT = 10


def write_version(
    folder: Path, model: Model, head: Head, labels: tuple[str, ...], seed: int, held_back: dict[str, Any]
) -> Version:
    """Write a version as three files, its description last: an interrupted write leaves no version.

    Raises StoreError.
    """
    name = f"{model.name}-taught"
    network, weights = to_onnx(with_head(model.graph.checked(), head), name, labels, model.input), head.to_bytes()
    version = Version(
        schema=1,
        edged=__version__,
        sha256=sha256(network).hexdigest(),
        name=name,
        labels=labels,
        base=Base(name=model.name, sha256=model.sha256),
        features=head.features,
        hidden=head.hidden,
        head_sha256=sha256(weights).hexdigest(),
        trained_at=wall_s(),
        seed=seed,
        held_back=held_back,
    )
    save(version_path(folder, version.sha256, "onnx"), network)
    save(version_path(folder, version.sha256, "head"), weights)
    text = version.model_dump_json(by_alias=True, indent=1).encode() + b"\n"
    save(version_path(folder, version.sha256, "json"), text)
    _delete_unused(folder)
    return version


def versions_in(folder: Path) -> list[Version]:
    """Return all versions, oldest first. Raises ModelError for a damaged one, NewerStateError."""
    names = [path.stem for path in (folder / "versions").glob("*.json") if not path.name.startswith(".")]
    return sorted((load_version(folder, name) for name in names), key=lambda version: version.trained_at)


def find_version(folder: Path, begins: str | None) -> Version:
    """Return the newest version, or the one whose hash begins with `begins`. Raises ModelError."""
    versions = versions_in(folder)
    if begins is None and versions:
        return versions[-1]
    fitting = [version for version in versions if begins and version.sha256.startswith(begins.lower())]
    if len(fitting) == 1:
        return fitting[0]
    there = "; ".join(map(str, versions)) or "none: `edged teach train CONFIG` trains one"
    which = f"version {begins}" if begins else "version"
    count = "no" if not fitting else f"more than one ({len(fitting)})"
    raise ModelError(f"{folder / 'versions'} has {count} {which}; there are: {there}")


def _delete_unused(folder: Path) -> None:
    """Delete old versions, except those that answer or did."""
    try:
        promoted = load_promoted(folder)
        versions = versions_in(folder)
    except (ModelError, NewerStateError):
        return  # the client of a promotion receives the error
    used = {promoted.version, *promoted.before}
    for version in versions[:-KEPT]:
        if version.sha256 not in used:
            for kind in ("json", "head", "onnx"):
                version_path(folder, version.sha256, kind).unlink(missing_ok=True)
