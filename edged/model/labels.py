"""Read a file of labels: text, one per line, in the order of the classes."""

from pathlib import Path

from edged.errors import ModelError
from edged.system.files import read_regular_file
from edged.system.plain_text import problem_of

MAX_BYTES = 4 * 2**20


def read(path: Path, classes: int) -> tuple[str, ...]:
    """Read as many labels as there are classes. Raises ModelError."""
    text = _text(path).rstrip()
    labels = tuple(line.replace("\t", " ").strip() for line in text.split("\n")) if text else ()
    for number, label in enumerate(labels, 1):
        if problem := problem_of(label):
            raise ModelError(f"{path}:{number}: expected a label: {problem}")
    if len(labels) == classes:
        return labels
    hint = ""
    if len(labels) == classes + 1 and labels[0].lower() in {"background", "unused background", "none"}:
        hint = f": line 1 is {labels[0]!r}, which the model has no class for; remove that line"
    raise ModelError(f"{path}: has {len(labels)} labels for the {classes} classes of the model{hint}")


def _text(path: Path) -> str:
    """Return the text with line feeds as line ends."""
    try:
        text = read_regular_file(path, MAX_BYTES).decode("utf-8-sig")
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}; expected one label a line") from None
    except UnicodeDecodeError:
        raise ModelError(f"{path}: is not UTF-8 text; expected one label a line") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")
