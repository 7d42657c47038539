"""Read a model file's bytes, within limits; `NAME.onnx.zst` is compressed by Zstandard.

The only module that imports zstandard, an optional dependency.
"""

import hashlib
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from edged.errors import ModelError
from edged.system.files import open_regular_file, read_regular_file, reading
from edged.system.python_packages import install_command

MAX_BYTES = 2**30

SUFFIX = ".zst"
LEVEL = 22  # the highest: a file is written once and read often
MAX_RATIO = 1000  # a file of weights stays far below it; one made to fill the memory does not


def read_content(path: Path) -> bytes:
    """Return the whole file, decompressed. Raises ModelError, also for one beyond the limits."""
    _require(path)
    with reading(path, ModelError):
        content = read_regular_file(path, MAX_BYTES)
    return decompress(content, path, MAX_BYTES) if is_compressed(path) else content


def content_sha256(path: Path) -> str:
    """Return the hexadecimal SHA-256 of `read_content`. A file that is not compressed is not loaded into memory.

    Raises ModelError.
    """
    if is_compressed(path):
        return hashlib.sha256(read_content(path)).hexdigest()
    _require(path)
    with reading(path, ModelError), open_regular_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _require(path: Path) -> None:
    with reading(path, ModelError):
        if not path.is_file():
            problem = "is not a file" if path.exists() else "no such file"
            raise ModelError(f"{path}: {problem}; expected an ONNX file")
        if path.stat().st_size > MAX_BYTES:
            raise ModelError(f"{path}: has more than {MAX_BYTES // 2**20} MiB, the most that is supported")


def is_compressed(path: Path) -> bool:
    """Return whether the name of the file says that it is compressed."""
    return path.suffix == SUFFIX


def model_stem(path: Path) -> str:
    """Return the name of a model file without its suffixes: `net` of `net.onnx` and of `net.onnx.zst`."""
    return Path(path.stem).stem if is_compressed(path) else path.stem


def compress(content: bytes, borders: Sequence[int] = ()) -> bytes:
    """Return one Zstandard frame, with a checksum and its size.

    borders: where kinds of content change, ascending: each part gets a code of its own, if that is smaller.
    Raises ModelError if zstandard is missing.
    """
    try:
        from zstandard import COMPRESSOBJ_FLUSH_BLOCK, ZstdCompressor
    except ImportError:
        raise ModelError(f"compressing needs zstandard: {install_command('zstandard')}") from None

    def in_parts(borders: Sequence[int]) -> bytes:
        frame = ZstdCompressor(level=LEVEL, write_checksum=True).compressobj(size=len(content))
        parts = [
            frame.compress(content[start:end]) + frame.flush(COMPRESSOBJ_FLUSH_BLOCK)
            for start, end in pairwise([0, *borders, len(content)])
        ]
        return b"".join([*parts, frame.flush()])

    in_one = in_parts(())
    return min(in_one, in_parts(borders), key=len) if borders else in_one


def decompress(content: bytes, path: Path, most: int) -> bytes:
    """Return the content of the compressed file `path`: at most `most` bytes, and `MAX_RATIO` times its size.

    Raises ModelError, before memory is taken for a file beyond these limits.
    """
    try:
        from zstandard import CONTENTSIZE_UNKNOWN, ZstdDecompressor, ZstdError, get_frame_parameters
    except ImportError:
        problem = f"reading it needs zstandard: `zstd -d {path.name}`, or {install_command('zstandard')}"
        raise ModelError(f"{path}: {problem}") from None
    try:
        size = get_frame_parameters(content).content_size
        if size == CONTENTSIZE_UNKNOWN:
            raise ModelError(f"{path}: does not say its decompressed size; compress the file itself: `zstd FILE`")
        _require_within_limits(path, size, len(content), most)
        return bytes(ZstdDecompressor().decompress(content, allow_extra_data=False))
    except ZstdError:
        raise ModelError(f"{path}: is damaged, cut short, or no Zstandard file; copy it again") from None


def _require_within_limits(path: Path, size: int, compressed: int, most: int) -> None:
    if size > most:
        raise ModelError(f"{path}: has more than {most // 2**20} MiB decompressed, the most that is supported")
    if size > MAX_RATIO * compressed:
        raise ModelError(
            f"{path}: says that its {compressed} bytes become {size}, more than {MAX_RATIO} times as many: "
            "no network compresses so well; use a file that you trust"
        )
