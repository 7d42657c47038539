"""A file of labels: text, one a line, in the order of the classes."""

from pathlib import Path

from edged.errors import ModelError

MAX_BYTES = 4 * 2**20


def read(path: Path, classes: int) -> tuple[str, ...]:
    """As many labels as there are classes. Raises ModelError."""
    labels = tuple(line.strip() for line in _text(path).rstrip().splitlines())
    if len(labels) == classes:
        return labels
    hint = ""
    if len(labels) == classes + 1 and labels[0].lower() in {"background", "unused background", "none"}:
        hint = f": line 1 is {labels[0]!r}, which the model has no class for; remove that line"
    raise ModelError(f"{path}: has {len(labels)} labels for the {classes} classes of the model{hint}")


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}; expected one label a line") from None
    if len(content) > MAX_BYTES:
        raise ModelError(f"{path}: has more than {MAX_BYTES // 2**20} MiB; expected one label a line")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ModelError(f"{path}: is not UTF-8 text; expected one label a line") from None
