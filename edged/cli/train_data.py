"""What `edged train` learns from: the folder that the config or `--data` names, in memory or drawn from."""

from pathlib import Path

from edged.camera.sources.folder import pictures_in
from edged.cli.train_crops import read_crops
from edged.cli.train_pictures import read_folders
from edged.errors import ConfigError, DataError
from edged.model.package import Input
from edged.train.config import Data, Training
from edged.train.drawn.frames import SIDE
from edged.train.drawn.source import open_drawn
from edged.train.idx import has_idx, read_idx
from edged.train.source import InMemory, Source

EITHER = ("idx", "folder")
LOADERS = {"idx": read_idx, "folder": read_folders, "crops": read_crops}


def open_source(training: Training, wanted: Input, folder: Path | None) -> Source:
    """`folder`: of the command line, which goes before the config's. Raises ConfigError, DataError."""
    kind, path = _place(training.data, folder)
    if not path.is_dir():
        raise DataError(f"{path}: expected a folder with data, found {'a file' if path.exists() else 'nothing'}")
    learning = training.train
    if kind == "drawn" and training.data:
        _check_drawn(training, wanted)
        how = training.data
        return open_drawn(path, replays=how.replays, processes=how.processes, seed=learning.seed)
    return InMemory(*LOADERS[kind](path, training.labels, wanted), learning.validation, learning.seed)


def _check_drawn(training: Training, wanted: Input) -> None:
    if (wanted.width, wanted.height, wanted.channels) != (SIDE, SIDE, 3):
        found = f"{wanted.width}×{wanted.height}, {wanted.color}"
        raise ConfigError(f"scenes are drawn as {SIDE}×{SIDE} in colour; input is {found}: change it")
    if training.train.validation:
        raise ConfigError("scenes are drawn anew in each epoch, and none is held out: give validation: 0")


def _place(data: Data | None, folder: Path | None) -> tuple[str, Path]:
    """What kind of data, and where. `--data` may name IDX files or folders of pictures for either of the two."""
    path = folder or (data and data.path)
    if not path:
        raise ConfigError("there are no data to learn from: give --data FOLDER, or data: in the file")
    if data and (not folder or data.kind not in EITHER):
        return data.kind, path
    means_idx = data and data.kind == "idx" and not _has_pictures(path)
    return ("idx" if has_idx(path) or means_idx else "folder"), path


def _has_pictures(folder: Path) -> bool:
    return folder.is_dir() and bool(pictures_in(folder))
