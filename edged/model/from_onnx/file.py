"""Load an ONNX file as a message with all tensors inside, within limits.

Tensors whose data is in other files, which must be in the model's folder, are read here: the `onnx` package reads
them too, but its checks differ between versions.

The parser and checker of that package raise seven kinds of exception on damaged files and accept invalid ones;
here each of them becomes a ModelError.
"""

import hashlib
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import onnx

from edged.errors import ModelError
from edged.model.model_file import MAX_BYTES, read_content

TOO_LARGE = f"is too large: data in other files may have {MAX_BYTES // 2**20} MiB in all"
MAX_NODES = 20_000
MIN_OPSET = 7


class External:
    """The files of external data.

    `files`: each is read once and whole, so that its checksum is that of the used data.
    """

    def __init__(self, path: Path) -> None:
        self.files: dict[Path, bytes] = {}
        self._path = path
        self._left = MAX_BYTES  # bytes of files
        self._unused = MAX_BYTES  # bytes of tensors, which may overlap

    def load(self, tensor: onnx.TensorProto) -> None:
        """Move the tensor's data into the message. Raises ModelError."""
        if tensor.data_location != onnx.TensorProto.EXTERNAL:
            return
        try:
            data = self._data(tensor)
        except (OSError, ValueError, RuntimeError) as error:
            raise ModelError(f"{self._path}: tensor {tensor.name} cannot be read from its file: {error}") from None
        tensor.raw_data = data
        tensor.data_location = onnx.TensorProto.DEFAULT

    def _data(self, tensor: onnx.TensorProto) -> bytes:
        entries = {entry.key: entry.value for entry in tensor.external_data}
        if len(entries) != len(tensor.external_data):
            raise ValueError("an entry is repeated")
        content = self._content(tensor.name, entries.get("location", ""))
        offset = int(entries.get("offset", "0"))
        length = int(entries.get("length", len(content) - offset))
        if not 0 <= offset <= offset + length <= len(content):
            raise ValueError(f"{length} bytes from {offset} of a file of {len(content)}")
        self._unused -= length
        if self._unused < 0:
            raise ValueError(TOO_LARGE)
        return content[offset : offset + length]

    def _content(self, name: str, location: str) -> bytes:
        file = (self._path.parent / location).resolve()
        if file in self.files:
            return self.files[file]
        where = f"{self._path}: tensor {name} lies in {location}"
        if not file.is_relative_to(self._path.parent.resolve()):
            raise ModelError(f"{where}, outside the model's folder")
        if not file.is_file():
            raise ModelError(f"{where}, which does not exist: put it beside the model")
        content = _read(file, self._left)
        if len(content) > self._left:
            raise ModelError(f"{where}, which {TOO_LARGE}")
        self._left -= len(content)
        self.files[file] = content
        return content


def _read(file: Path, most: int) -> bytes:
    """Read up to one byte more than `most`. A link or a pipe in place of the file is not read."""
    descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(descriptor, "rb") as opened:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise ValueError("it is no regular file")
        return opened.read(min(found.st_size, most) + 1)


@dataclass(frozen=True, eq=False)
class OnnxFile:
    """A loaded file.

    `sha256` covers the file and the `external` ones with its data; `metadata`: its key-value properties.
    """

    path: Path
    model: onnx.ModelProto
    opset: int
    sha256: str
    metadata: Mapping[str, str]
    external: tuple[Path, ...] = ()


def read_file(path: Path) -> OnnxFile:
    """Read and check the frame of the file, not yet its operators. Raises ModelError."""
    content = read_content(path)
    model = onnx.ModelProto()
    try:
        model.ParseFromString(content)
    except Exception:  # protobuf's error class depends on its installed implementation
        raise ModelError(f"{path}: is not an ONNX file, or is cut short") from None
    if not model.graph.node:
        raise ModelError(f"{path}: holds no network; expected an ONNX file")
    if len(model.graph.node) > MAX_NODES:
        raise ModelError(f"{path}: has {len(model.graph.node)} nodes; supported are up to {MAX_NODES}")
    digest = hashlib.sha256(content)
    external = External(path)
    for tensor in model.graph.initializer:
        external.load(tensor)
    for _, data in sorted(external.files.items()):
        digest.update(data)
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    return OnnxFile(path, model, _opset(path, model), digest.hexdigest(), metadata, tuple(sorted(external.files)))


def _opset(path: Path, model: onnx.ModelProto) -> int:
    versions = [entry.version for entry in model.opset_import if entry.domain in {"", "ai.onnx"}]
    newest = onnx.defs.onnx_opset_version()
    if len(versions) != 1 or not MIN_OPSET <= versions[0] <= newest:
        raise ModelError(
            f"{path}: requires ONNX operator set {versions or 'none'}; supported are {MIN_OPSET} to {newest}"
        )
    return int(versions[0])
