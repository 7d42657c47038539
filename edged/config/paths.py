"""Paths of a config. Those that are relative are resolved against the folder of its file, as it is validated."""

import os
import re
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, ValidationInfo

from edged.transport.keys import CREDENTIAL

MAX_LINKS = 40  # as in Linux
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")  # rtsp://…, synthetic:…


def absolute(path: Path, folder: Path) -> Path:
    """Resolve a path against a folder, independent of the working directory; credential:NAME stays as it is."""
    if str(path).startswith(CREDENTIAL):
        return path
    return Path(os.path.normpath(folder / os.path.expanduser(path)))


def absolute_source(source: int | str, info: ValidationInfo) -> int | str:
    """Make a file or folder absolute; a V4L2 index, a URL and synthetic:… stay unchanged."""
    folder = _folder(info)
    if folder is None or isinstance(source, int) or source.isdecimal():
        return source
    path = str(absolute(Path(source), folder))
    return source if _SCHEME.match(source) and not os.path.exists(path) else path


def _folder(info: ValidationInfo) -> Path | None:
    """Return the folder of the file, from the context of the validation; None for values of a program."""
    folder: Path | None = (info.context or {}).get("folder")
    return folder


def _absolute(path: Path, info: ValidationInfo) -> Path:
    folder = _folder(info)
    return path if folder is None else absolute(path, folder)


def _target(path: Path, info: ValidationInfo) -> Path:
    """Follow a link: another target is another model, and a running hub keeps the one that it has loaded.

    A target without the link's suffix is an entry of a store, as of Hugging Face, beside which the model's data is
    not: the link, which stays as it is there, is returned.
    """
    if _folder(info) is None:
        return path
    path = _absolute(path, info)
    for _ in range(MAX_LINKS):
        if not path.is_symlink():
            break
        target = path.parent.resolve() / os.readlink(path)
        if target.suffix != path.suffix:
            break
        path = Path(os.path.normpath(target.parent.resolve() / target.name))
    return path


ConfigPath = Annotated[Path, AfterValidator(_absolute)]
ModelPath = Annotated[Path, AfterValidator(_target)]
