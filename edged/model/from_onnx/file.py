"""Load an ONNX file as a message with all tensors inside, within limits.

The parser and checker of that package raise seven kinds of exception on damaged files and accept invalid ones;
here each of them becomes a ModelError.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import onnx

from edged.errors import ModelError
from edged.model.from_onnx.choice import suppresses, without_choice
from edged.model.from_onnx.dynamic_layers import with_float_layers
from edged.model.from_onnx.external import External, tensors_of
from edged.model.from_onnx.inlining import inlined
from edged.model.from_onnx.pixel_mask import with_whole_pictures
from edged.model.from_onnx.raw_maps import without_raw_maps
from edged.model.metadata import PREFIX
from edged.model.model_file import MAX_BYTES, read_content

MAX_NODES = 20_000
MIN_OPSET = 7


@dataclass(frozen=True, eq=False)
class OnnxFile:
    """A loaded file.

    `sha256` covers the file and the `external` ones with its data, whose places are relative to `data_folders`;
    `metadata`: its key-value properties, and what follows from its end where `edged` cuts that off. `chosen_from`:
    the outputs of `model` in that case, see `choice`. `has_stored_ends`: whether its inputs and outputs are the
    file's. `float_layers`: how many are read as such, see `dynamic_layers`.
    """

    path: Path
    model: onnx.ModelProto
    opset: int
    sha256: str
    metadata: Mapping[str, str]
    external: tuple[Path, ...] = ()
    data_folders: frozenset[Path] = frozenset()
    chosen_from: tuple[str, ...] = ()
    has_stored_ends: bool = True
    float_layers: int = 0

    @property
    def nbytes(self) -> int:
        """Return the bytes on disk, those of the other files included."""
        return sum(part.stat().st_size for part in (self.path, *self.external))


def read_file(path: Path) -> OnnxFile:
    """Read and check the frame of the file, not yet its operators. Raises ModelError."""
    content = read_content(path)
    model = onnx.ModelProto()
    try:
        model.ParseFromString(content)
    except Exception:  # protobuf's error class depends on its installed implementation
        raise ModelError(f"{path}: is not an ONNX file, or is cut short") from None
    try:
        model = inlined(model, MAX_NODES, MAX_BYTES)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None
    if not model.graph.node:
        raise ModelError(f"{path}: holds no network; expected an ONNX file")
    if len(model.graph.node) > MAX_NODES:
        raise ModelError(f"{path}: has {len(model.graph.node)} nodes; supported are up to {MAX_NODES}")
    digest = hashlib.sha256(content)
    external = External(path)
    for tensor in tensors_of(model.graph):
        external.load(tensor)
    for _, data in sorted(external.files.items()):
        digest.update(data)
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    files, folders = tuple(sorted(external.files)), frozenset(external.folders)
    opset = _opset(path, model)
    cut, chosen_from = without_choice(without_raw_maps(with_whole_pictures(model)))
    if chosen_from and not suppresses(model.graph):
        metadata = {f"{PREFIX}overlap": "1"} | metadata
    read, float_layers = with_float_layers(cut)
    return OnnxFile(
        path, read, opset, digest.hexdigest(), metadata, files, folders, chosen_from, cut is model, float_layers
    )


def _opset(path: Path, model: onnx.ModelProto) -> int:
    versions = sorted({entry.version for entry in model.opset_import if entry.domain in {"", "ai.onnx"}})
    newest = onnx.defs.onnx_opset_version()
    if len(versions) > 1:
        raise ModelError(f"{path}: requires the ONNX operator sets {versions} at once: export it with one of them")
    if len(versions) != 1 or not MIN_OPSET <= versions[0] <= newest:
        raise ModelError(
            f"{path}: requires ONNX operator set {versions or 'none'}; supported are {MIN_OPSET} to {newest}"
        )
    return int(versions[0])
