"""One run of `edged compress`: read the network and the pictures, search or retrain, write the result."""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import onnx

from edged import config
from edged.cli.compress.retrain import Retrain
from edged.cli.judged_options import judged_pictures
from edged.cli.model_options import model_config
from edged.cli.terminal import StatusLine, note
from edged.compress.codebook import Codebook
from edged.compress.coded_file import coded_layer
from edged.compress.judge import Judge, JudgedPictures
from edged.compress.network import Network
from edged.compress.outcome import Compression
from edged.compress.report import write_report
from edged.compress.search import Search
from edged.compress.weights import with_weights
from edged.compress.write import written
from edged.errors import ConfigError
from edged.model.from_onnx.file import read_file
from edged.model.model_file import compress, model_stem
from edged.model.package import Model, model_path
from edged.system.exclusive_lock import hold

BATCH = 32  # pictures of a job: throughput counts, not latency
EVERY_S = 30.0  # between two lines of progress, without a terminal
RIGHT, SAME = "share of right first classes", "share of the original's first classes"


@dataclass(frozen=True, eq=False)
class SmallNetwork:
    """The network `pruned` and `shared`, and the codebooks of the latter, by weight."""

    pruned: onnx.ModelProto
    shared: onnx.ModelProto
    codebooks: Mapping[str, Codebook]


class CompressionWork:
    """One compression, from the command line to the report.

    Raises ConfigError, DataError, ImageError, ModelError, DeviceError, TrainingError.
    """

    def __init__(self, arguments: argparse.Namespace, model: Model) -> None:
        compress(b"")  # if zstandard is missing, that is an error before all work
        self._arguments, self._model, self._wanted = arguments, model, model_config(arguments)
        path = model_path(self._wanted)
        self.folder: Path = arguments.output or Path(f"{model_stem(path)}-compressed")
        self._target = self.folder / f"{model_stem(path)}.onnx"
        self._prepare_folder(path)
        self._network = Network(read_file(path), (model.input.width, model.input.height))
        self._network.weights  # noqa: B018  # a network without weights to compress is an error before all work
        self._line = StatusLine(every_s=EVERY_S)

    def compress(self) -> Compression:
        """Search or train the smallest network within the limit, write it, and return what was reached."""
        if self._arguments.epochs:
            retrain = Retrain(self._arguments, self._model, self._network.file.model, self.folder)
            pictures = retrain.pictures
            found = SmallNetwork(*retrain.run(self._line))
            judge = self._judge(pictures)
        else:
            pictures = judged_pictures(self._model, self._arguments)
            judge = self._judge(pictures)
            found = self._search(judge)
        outcome = Compression(
            name=self._model.name,
            device=judge.device_name,
            pictures=len(pictures.frames),
            judged_by=SAME if pictures.classes is None else RIGHT,
            max_loss=self._arguments.max_loss / 100,
            steps=written(
                self._network, found.pruned, found.shared, found.codebooks, judge, self._target, self._wanted
            ),
            layers=[coded_layer(*each) for each in found.codebooks.items()],
        )
        self._write_report(outcome)
        return outcome

    def _judge(self, pictures: JudgedPictures) -> Judge:
        return Judge(self._model, config.WorkerConfig(device=self._arguments.device, batch=BATCH), pictures)

    def _search(self, judge: Judge) -> SmallNetwork:
        def show(text: str) -> None:
            self._line.show(f"edged: {text}")

        search = Search(self._network, judge, self._arguments.max_loss / 100, show)
        try:
            weights = search.prune()
            codebooks = search.share(weights)
        finally:
            self._line.clear()
        if judge.reused:
            note(f"{judge.reused} variations were measured before, by an earlier run")
        model = self._network.file.model
        return SmallNetwork(with_weights(model, weights), model, codebooks)

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
