"""Models whose weights lie in other files: some where they should, some where nobody may look."""

import os
import random
from pathlib import Path

import onnx
from onnx import TensorProto

from trials.fuzz.onnx_mutations import NUMBERS

PLACES = (
    *("weights.bin",) * 8,
    *("../secret.bin", "/etc/passwd", "link.bin", "inner/../weights.bin", "inner/up/secret.bin", "loop", "absent"),
    *("", "\0", ".", "pipe", "/dev/zero", "inner", "x" * 300, "./weights.bin", "zero", "~/secret.bin"),
)


def folder_with_secrets(parent: Path) -> Path:
    """A model's folder, with links to what lies outside of it, a link to itself, a pipe and a device."""
    folder = parent / "model"
    (folder / "inner").mkdir(parents=True)
    (folder / "weights.bin").write_bytes(bytes(range(256)) * 16)
    (parent / "secret.bin").write_bytes(bytes(100_000))
    (folder / "link.bin").symlink_to("../secret.bin")
    (folder / "inner" / "up").symlink_to("../..")
    (folder / "loop").symlink_to("loop")
    (folder / "zero").symlink_to("/dev/zero")
    os.mkfifo(folder / "pipe")
    return folder


def move_elsewhere(model: onnx.ModelProto, chance: random.Random) -> None:
    """The data of a tensor or of all."""
    tensors = list(model.graph.initializer)
    for tensor in tensors if chance.random() < 0.3 else [chance.choice(tensors)]:
        size = len(tensor.raw_data)
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        numbers = ["", "0", "4", "-4", "1e3", "9" * 30, "9" * 5000, "4094", str(size), *map(str, NUMBERS)]
        entries = [("location", chance.choice(PLACES)), ("length", str(size)), ("offset", chance.choice(numbers))]
        if chance.random() < 0.3:
            entries.append((chance.choice(("length", "checksum", "basepath", "")), chance.choice(numbers)))
        if chance.random() < 0.2:
            entries.append(("location", chance.choice(PLACES)))
        for key, value in entries[: chance.choice((0, 1, 2, 3, 4, 5, 5, 5))]:
            tensor.external_data.add(key=key, value=value)
