"""Read a model file's bytes, within limits; those of a compressed one are decompressed."""

import hashlib
from pathlib import Path

from edged.errors import ModelError
from edged.model.compressed_file import decompress, is_compressed
from edged.system.regular_file import open_regular_file, read_regular_file

MAX_BYTES = 2**30


def read_content(path: Path) -> bytes:
    """Return the whole file, decompressed. Raises ModelError, also for one beyond the limits."""
    _require(path)
    try:
        content = read_regular_file(path, MAX_BYTES)
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from None
    return decompress(content, path, MAX_BYTES) if is_compressed(path) else content


def content_sha256(path: Path) -> str:
    """Return the hexadecimal SHA-256 of `read_content`. A file that is not compressed is not loaded into memory.

    Raises ModelError.
    """
    if is_compressed(path):
        return hashlib.sha256(read_content(path)).hexdigest()
    _require(path)
    try:
        with open_regular_file(path) as file:
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
