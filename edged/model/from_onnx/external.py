"""Read the data of tensors that lies in other files, which the user has put or linked into the model's folder.

The `onnx` package reads them too, but its checks differ between versions.

The model file is not trusted: it names a place by a *location*, which must lie in the folder. The links in the
folder are the user's: the target of one that stands for a file may lie anywhere, as in the cache of Hugging Face.
A link to a folder is followed only within the model's folder: the location chooses what is read behind it.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from onnx import GraphProto, TensorProto

from edged.errors import ModelError
from edged.model.model_file import MAX_BYTES

TOO_LARGE = f"is too large: data in other files may have {MAX_BYTES // 2**20} MiB in all"
MAX_LINKS = 40  # from link to link, as in Linux


def tensors_of(graph: GraphProto) -> Iterator[TensorProto]:
    """Yield the tensors of a graph: initializers, and the attributes of nodes, also in graphs inside of nodes."""
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors
            for inner in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
                yield from tensors_of(inner)


class External:
    """The files of external data.

    `files`: each is read once and whole, so that its checksum is that of the used data. `folders`: those that hold
    them, or links to them.
    """

    def __init__(self, path: Path) -> None:
        self.files: dict[Path, bytes] = {}
        self.folders: set[Path] = set()
        self._path = path
        self._left = MAX_BYTES  # bytes of files
        self._unused = MAX_BYTES  # bytes of tensors, which may overlap

    def load(self, tensor: TensorProto) -> None:
        """Move the tensor's data into the message. Raises ModelError."""
        if tensor.data_location != TensorProto.EXTERNAL:
            return
        try:
            data = self._data(tensor)
        except (OSError, ValueError, RuntimeError) as error:
            raise ModelError(f"{self._path}: tensor {tensor.name} cannot be read from its file: {error}") from None
        tensor.raw_data = data
        tensor.data_location = TensorProto.DEFAULT

    def _data(self, tensor: TensorProto) -> bytes:
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
        where = f"{self._path}: tensor {name} lies in {location}"
        file = self._file_at(location, where)
        if file in self.files:
            return self.files[file]
        content = _read(file, self._left)
        if len(content) > self._left:
            raise ModelError(f"{where}, which {TOO_LARGE}")
        self._left -= len(content)
        self.files[file] = content
        return content

    def _file_at(self, location: str, where: str) -> Path:
        """Return the file at a location beside the model or, where that is a link, beside its target.

        Raises ModelError.
        """
        place = PurePosixPath(location)
        folders = _folders_of(self._path)
        for folder in folders:
            beside = folder / place
            names_outside = place.is_absolute() or ".." in place.parts
            if names_outside or not (folder / place.parent).resolve().is_relative_to(folder):
                raise ModelError(f"{where}, outside the model's folder")
            if (file := beside.resolve()).is_file():
                self.folders.add(folder)
                return file
        named = " or in ".join(map(str, folders[1:]))
        target = f", or the file that it is a link to, in {named}" if named else ""
        raise ModelError(f"{where}, which does not exist: put it beside the model{target}")


def _folders_of(path: Path) -> list[Path]:
    """Return the folder of a file and, if it is a link, those of what it leads to, from link to link."""
    folders = [path.parent.resolve()]
    for _ in range(MAX_LINKS):
        if not path.is_symlink():
            break
        path = path.parent / os.readlink(path)
        if (folder := path.parent.resolve()) not in folders:
            folders.append(folder)
    return folders


def _read(file: Path, most: int) -> bytes:
    """Read up to one byte more than `most`. A link or a pipe in place of the file is not read."""
    descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(descriptor, "rb") as opened:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise ValueError("it is no regular file")
        return opened.read(min(found.st_size, most) + 1)
