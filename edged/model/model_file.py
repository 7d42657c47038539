"""A model file's bytes, before anybody knows what they mean."""

import hashlib
from pathlib import Path

from edged.errors import ModelError

MAX_BYTES = 2**30


def read_content(path: Path) -> bytes:
    """All of the file, within limits. Raises ModelError."""
    _require(path)
    try:
        return path.read_bytes()
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from None


def content_sha256(path: Path) -> str:
    """Hexadecimal SHA-256 of what `read_content` gives, never all of it in memory. Raises ModelError."""
    _require(path)
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from None


def _require(path: Path) -> None:
    try:
        if not path.is_file():
            problem = "is not a file" if path.exists() else "no such file"
            raise ModelError(f"{path}: {problem}; expected an ONNX file")
        if path.stat().st_size > MAX_BYTES:
            raise ModelError(f"{path}: has more than {MAX_BYTES // 2**20} MiB, the most that is supported")
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from None
