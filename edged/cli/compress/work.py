"""One run of `edged compress`: read the network and the pictures, search, write the result."""

import argparse
from pathlib import Path

from edged import config
from edged.cli.model_options import model_config
from edged.cli.terminal import StatusLine, note
from edged.compress.coded_file import coded_layer
from edged.compress.judge import Judge, JudgedPictures
from edged.compress.network import Network
from edged.compress.outcome import Compression
from edged.compress.pictures import labelled, unlabelled
from edged.compress.report import write_report
from edged.compress.search import Search
from edged.compress.write import written
from edged.errors import ConfigError
from edged.model.compressed_file import compress, model_stem
from edged.model.from_onnx.file import read_file
from edged.model.package import Model, model_path
from edged.system.exclusive_lock import hold

BATCH = 32  # pictures of a job: throughput counts, not latency
EVERY_S = 30.0  # between two lines of progress, without a terminal
RIGHT, SAME = "share of right first classes", "share of the original's first classes"


class CompressionWork:
    """One compression, from the command line to the report.

    Raises ConfigError, DataError, ImageError, ModelError, DeviceError.
    """

    def __init__(self, arguments: argparse.Namespace, model: Model) -> None:
        compress(b"")  # without zstandard, say so at once
        self._arguments, self._model, self._wanted = arguments, model, model_config(arguments)
        path = model_path(self._wanted)
        self.folder: Path = arguments.output or Path(f"{model_stem(path)}-compressed")
        self._target = self.folder / f"{model_stem(path)}.onnx"
        self._prepare_folder(path)
        self._network = Network(read_file(path), (model.input.width, model.input.height))
        self._network.weights  # noqa: B018  # a network without weights to compress is an error before all work
        self._line = StatusLine(every_s=EVERY_S)

    def compress(self) -> Compression:
        """Search the smallest network within the limit, write it, and return what was reached."""
        worker = config.WorkerConfig(device=self._arguments.device, batch=BATCH)
        pictures, max_loss = self._pictures(), self._arguments.max_loss / 100
        judge = Judge(self._model, worker, pictures)
        search = Search(self._network, judge, max_loss, lambda text: self._line.show(f"edged: {text}"))
        try:
            weights = search.prune()
            codebooks = search.share(weights)
        finally:
            self._line.clear()
        if judge.reused:
            note(f"{judge.reused} variations were measured before, by an earlier run")
        original = self._network.file.path.stat().st_size
        outcome = Compression(
            name=self._model.name,
            device=judge.device_name,
            pictures=len(pictures.frames),
            judged_by=SAME if pictures.classes is None else RIGHT,
            max_loss=max_loss,
            steps=written(self._network, original, weights, codebooks, judge, self._target, self._wanted),
            layers=[coded_layer(*each) for each in codebooks.items()],
        )
        self._write_report(outcome)
        return outcome

    def _pictures(self) -> JudgedPictures:
        arguments = self._arguments
        if arguments.data:
            return labelled(arguments.data, self._model, arguments.count)
        return unlabelled(arguments.images, self._model, arguments.count)

    def _prepare_folder(self, source: Path) -> None:
        """Make the folder, for this process alone. Raises ConfigError if the source would be replaced."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"--output {self.folder}: cannot be made: {error.strerror}") from None
        if source.resolve().parent == self.folder.resolve():
            raise ConfigError(f"--output {self.folder}: holds the original, {source.name}: give another folder")
        hold(f"compression-{self.folder.absolute()}")

    def _write_report(self, outcome: Compression) -> None:
        try:
            write_report(outcome, self.folder)
        except OSError as error:
            raise ConfigError(f"{self.folder}: the report cannot be written: {error.strerror}") from None
