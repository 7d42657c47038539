"""An ONNX file as a message, with its tensors inside, within limits of our own.

The parser and checker of the `onnx` package raise seven kinds of exception on damaged files and pass absurd ones;
here every one of them becomes a ModelError.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import onnx
from onnx.external_data_helper import load_external_data_for_tensor, uses_external_data

from edged.errors import ModelError
from edged.model.model_file import MAX_BYTES, read_content

MAX_NODES = 20_000
MIN_OPSET = 7


@dataclass(frozen=True, eq=False)
class OnnxFile:
    """`sha256` covers the file and the `external` ones with its data; `metadata`: its key-value properties."""

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
    except Exception:  # protobuf's error class depends on which of its implementations is installed
        raise ModelError(f"{path}: is not an ONNX file, or is cut short") from None
    if not model.graph.node:
        raise ModelError(f"{path}: holds no network; expected an ONNX file")
    if len(model.graph.node) > MAX_NODES:
        raise ModelError(f"{path}: has {len(model.graph.node)} nodes; supported are up to {MAX_NODES}")
    digest = hashlib.sha256(content)
    externals = _load_external_data(path, model)
    for external in externals:
        digest.update(read_content(external))
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    return OnnxFile(path, model, _opset(path, model), digest.hexdigest(), metadata, tuple(externals))


def _opset(path: Path, model: onnx.ModelProto) -> int:
    versions = [entry.version for entry in model.opset_import if entry.domain in {"", "ai.onnx"}]
    newest = onnx.defs.onnx_opset_version()
    if len(versions) != 1 or not MIN_OPSET <= versions[0] <= newest:
        raise ModelError(
            f"{path}: asks for ONNX operator set {versions or 'none'}; supported are {MIN_OPSET} to {newest}"
        )
    return int(versions[0])


def _load_external_data(path: Path, model: onnx.ModelProto) -> list[Path]:
    """Move tensors that lie in other files into the message. Those files must be in the model's folder."""
    files = set()
    for tensor in model.graph.initializer:
        if uses_external_data(tensor):
            try:
                files.add(_load(path, tensor))
            except ModelError:
                raise
            except Exception as error:  # a damaged entry makes it raise whatever it stumbles over
                raise ModelError(f"{path}: tensor {tensor.name} cannot be read from its file: {error}") from None
    return sorted(files)


def _load(path: Path, tensor: onnx.TensorProto) -> Path:
    location = next((entry.value for entry in tensor.external_data if entry.key == "location"), "")
    file = (path.parent / location).resolve()
    where = f"{path}: tensor {tensor.name} lies in {location}"
    if not file.is_relative_to(path.parent.resolve()):
        raise ModelError(f"{where}, outside the model's folder")
    if not file.is_file():
        raise ModelError(f"{where}, which does not exist: put it beside the model")
    if file.stat().st_size > MAX_BYTES:
        raise ModelError(f"{where}, which has more than {MAX_BYTES // 2**20} MiB, the most that is supported")
    load_external_data_for_tensor(tensor, str(path.parent))
    tensor.data_location = onnx.TensorProto.DEFAULT
    return file
