"""The scores of onnxruntime, where that package is installed: another implementation to compare with."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.errors import ModelError
from edged.model import reference
from edged.model.model_file import is_compressed, read_content
from edged.model.package import Input
from edged.system.python_packages import install_command

TYPES = {"tensor(float16)": np.float16, "tensor(double)": np.float64, "tensor(uint8)": np.uint8}
QUIET = 4  # log level of onnxruntime: fatal errors only
EXACT = "session.x64quantprecision", "1"  # else sums of 16 bits saturate on processors without VNNI


@dataclass(frozen=True, eq=False)
class OtherScores:
    """`scores`: all outputs, float32 [n, values]; None because of `problem`. `version`: of what computed them."""

    version: str = ""
    scores: NDArray[np.float32] | None = None
    problem: str = ""


class OnnxruntimeNetwork:
    """A file that onnxruntime computes. `version`: of the package."""

    def __init__(self, path: Path, model_input: Input) -> None:
        """Raises ModelError if onnxruntime is not installed, or does not take the file."""
        try:
            import onnxruntime
        except ImportError:
            command = install_command("onnxruntime")
            raise ModelError(f"onnxruntime is not installed: {command}") from None
        self.version = str(onnxruntime.__version__)
        self._model_input = model_input
        with self._faults():
            self._session = _opened(onnxruntime, _source(path))

    def outputs(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Compute pictures, uint8 RGB [n, height, width, 3], one by one: all outputs, float32 [n, values].

        A file of float16 is computed in float16. Raises ModelError.
        """
        with self._faults():
            return _outputs(self._session, reference.prepare(images, self._model_input))

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # it raises its own kinds, which have no common base
            raise ModelError(f"onnxruntime {self.version} does not run it: {error}") from None


def onnxruntime_scores(path: Path, model_input: Input, images: NDArray[np.uint8]) -> OtherScores:
    """Compute a file by onnxruntime for pictures, uint8 RGB [n, height, width, 3], one by one."""
    try:
        network = OnnxruntimeNetwork(path, model_input)
        return OtherScores(network.version, network.outputs(images))
    except ModelError as error:
        return OtherScores(problem=str(error))


def _opened(onnxruntime: Any, source: bytes | str) -> Any:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = QUIET
    options.add_session_config_entry(*EXACT)
    return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def _source(path: Path) -> bytes | str:
    """Return what onnxruntime loads: the network as edged reads it if its inputs or outputs are not the file's."""
    from edged.model.from_onnx.file import read_file  # it loads onnx

    file = read_file(path)
    if not file.has_stored_ends:
        return bytes(file.model.SerializeToString())
    return read_content(path) if is_compressed(path) else str(path)  # weights may lie beside a file


def _outputs(session: Any, x: NDArray[np.float32]) -> NDArray[np.float32]:
    entry = session.get_inputs()[0]
    sizes = zip(entry.shape[1:], x.shape[1:], strict=True)
    if any(size != found for size, found in sizes if isinstance(size, int)):  # open sizes are names or None
        x = x.transpose(0, 2, 3, 1)
    inputs = x.astype(TYPES.get(entry.type, np.float32))
    jobs = (session.run(None, {entry.name: one[np.newaxis]}) for one in inputs)
    return np.stack([np.concatenate([np.ravel(output) for output in job]) for job in jobs]).astype(np.float32)
