"""The bundle of `edged doctor --bundle`: what to send in about a board, as one file."""

import io
import json
import tarfile
from pathlib import Path
from typing import Any

from edged.errors import ConfigError
from edged.system.atomic_file import write_result

FOLDER = "edged-doctor"


def check_name(path: Path) -> None:
    """Raises ConfigError for a name that another program would not open as a bundle."""
    if not path.name.endswith((".tar.gz", ".tgz")):
        raise ConfigError(f"--bundle {path}: expected a name that ends in .tar.gz")


def write_bundle(path: Path, page: str, report: dict[str, Any]) -> None:
    """Write the page, the facts with the judgement, and the config without secrets. Raises ConfigError."""
    config = report["facts"]["config"]
    files = {"doctor.txt": page, "doctor.json": _json(report), "config.json": _json(config)}
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for name, text in files.items():
            data = text.encode()
            entry = tarfile.TarInfo(f"{FOLDER}/{name}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    write_result(path, content.getvalue())


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, default=str) + "\n"
