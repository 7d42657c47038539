"""The part of `edged compress --epochs` that trains: data, settings, checkpoints, progress."""

import argparse
from pathlib import Path

import numpy as np
import onnx

from edged import config
from edged.cli.terminal import StatusLine
from edged.cli.train.data import open_source
from edged.compress.codebook import Codebook
from edged.compress.judge import JudgedPictures
from edged.compress.retraining import RetrainedEpoch, Retraining, judging_examples, slower
from edged.errors import ConfigError
from edged.model.graph import Graph
from edged.model.package import Model
from edged.runtime.select import is_numpy, opencl_device
from edged.system.disk_cache import code_sha256
from edged.train.build import start_from
from edged.train.checkpoint import Checkpoints, facts_of
from edged.train.config import Training, load_training, named_networks
from edged.train.export import to_onnx
from edged.train.source import LabelledImages
from edged.train.trainer import trainer_of

HELD_OUT = 0.1  # of the pictures, by which pruning is judged; scenes that are drawn have their own test


class Retrain:
    """One retraining of `model`, whose file is `original`. `pictures`: those that judge the result.

    Raises ConfigError, DataError, ModelError, DeviceError.
    """

    def __init__(
        self, arguments: argparse.Namespace, model: Model, original: onnx.ModelProto, folder: Path
    ) -> None:
        if is_numpy(config.WorkerConfig(device=arguments.device)):
            raise ConfigError("device numpy cannot train: give an OpenCL device, or leave --epochs out")
        training = _training_of(arguments, model)
        self._model, self._original, learning = model, original, training.train
        device = opencl_device(arguments.device)
        self._source = open_source(training, model.input, arguments.data)
        self._checkpoints = Checkpoints(folder / "checkpoints")
        self.pictures = _judged(self._source.test or judging_examples(self._source), self._source.fingerprint)
        facts = facts_of(training, self._source.fingerprint, model.sha256, device.name)
        facts |= {"max_loss": str(arguments.max_loss), "code": code_sha256("edged.compress")}
        trainer = trainer_of(start_from(model, model.labels, learning.seed), device, learning)
        self._retraining = Retraining(
            trainer, self._source, model.input, learning, arguments.max_loss / 100, self._checkpoints, facts
        )

    def run(self, line: StatusLine) -> tuple[onnx.ModelProto, onnx.ModelProto, dict[str, Codebook]]:
        """Retrain, from the last checkpoint on; return the pruned and the shared network, and codebooks."""
        checkpoint, _ = self._checkpoints.newest()
        if checkpoint and self._retraining.resume(checkpoint):
            line.keep(f"going on after epoch {len(self._retraining.history)} of {self._retraining.epochs}")
        else:
            self._checkpoints.clear()
        try:
            self._retraining.run(lambda epoch: line.keep(epoch_line(epoch, self._retraining.epochs)))
        finally:
            self._source.close()
        pruned = self._file(self._retraining.pruned_network())
        shared, codebooks = self._retraining.shared_network()
        return pruned, self._file(shared), codebooks

    def _file(self, graph: Graph) -> onnx.ModelProto:
        """Return the network as a file, with the metadata of the original that `edged train` does not write."""
        model = onnx.ModelProto()
        model.ParseFromString(to_onnx(graph, self._model.name, self._model.labels, self._model.input))
        known = {entry.key for entry in model.metadata_props}
        model.metadata_props.extend(each for each in self._original.metadata_props if each.key not in known)
        return model


def epoch_line(epoch: RetrainedEpoch, epochs: int) -> str:
    """Format a finished epoch: epoch 3 of 8, pruned: 81.2 % of the weights are 0, loss 0.0312, 99.10 % right"""
    zeros = f"{100 * epoch.pruned:.1f} % of the weights are 0"
    figures = f"loss {epoch.loss:.4f}, {100 * epoch.accuracy:.2f} % right"
    return f"epoch {epoch.epoch} of {epochs}, {epoch.step}: {zeros}, {figures}"


def _training_of(arguments: argparse.Namespace, model: Model) -> Training:
    """Return the settings of `--training`, else those of the network of that name, with the model's labels."""
    named = model.name if model.name in named_networks() else None
    source = arguments.training or named
    training = load_training(source)[0] if source else Training(name=model.name)
    is_drawn = training.data is not None and training.data.kind == "drawn"
    learning = slower(training.train, arguments.epochs, 0.0 if is_drawn else HELD_OUT)
    return training.model_copy(update={"train": learning, "labels": model.labels})


def _judged(examples: LabelledImages, fingerprint: str) -> JudgedPictures:
    """Return pictures as a camera would give them: gray ones with equal red, green and blue."""
    images = examples.images
    frames = np.repeat(images, 3, axis=3) if images.shape[3] == 1 else images
    return JudgedPictures(frames, [(int(label),) for label in examples.labels], f"{fingerprint}/test")
