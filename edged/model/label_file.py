"""Read the labels of a network: text or JSON as other tools write it, or a property of other tools' models."""

import ast
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from edged.errors import ModelError
from edged.model.ultralytics import NAMES
from edged.system.files import read_regular_file
from edged.system.plain_text import counted, problem_of

MAX_LABEL_BYTES = 4 * 2**20
FORMS = "one label a line in the order of the classes, or JSON: a list, or an object of indexes and labels"
CHARACTER = "character"  # property of RapidAI's files: classes, or a recogniser's characters, one a line
BACKGROUND = frozenset({"background", "unused background", "none"})
# parts of a larger object, such as a config.json
PARTS = ("id2label", "label2id", "label_names", NAMES, "labels", "classes")
INDEXED = re.compile(r"(\d{1,9})(?:\s*[:,;=]\s*|\s+)(\S.*)", re.ASCII)
WORDNET = re.compile(r"n\d{8}", re.ASCII)
OPENS_VALUE = re.compile(r"""\s*(\{|\[\s*(["'\[]|\n))""")
# what repr() writes of dicts, lists and tuples of numbers and texts: nothing that could exhaust Python's parser
TOKEN = re.compile(
    r"""[\s,:]+|(?P<open>[\[{(])|(?P<close>[\]})])|\d{1,9}(?!\w)"""
    r"""|'(?:[^'\\\n]|\\[\\'"nrtxuU])*'|"(?:[^"\\\n]|\\[\\'"nrtxuU])*\"""",
    re.ASCII,
)
MOST_NESTED = 3
LEAST_DISTINCT = 0.9  # of labels without their indexes; ImageNet has two cranes
MOST_SHOWN = 40  # characters of a wrong value


def read_labels(path: Path, classes: int) -> tuple[str, ...]:
    """Read as many labels as there are classes: `FORMS`. Raises ModelError."""
    text = _text_of(path)
    if path.suffix.lower() != ".json" and not OPENS_VALUE.match(text):
        return _of_lines(path, text, classes)
    try:
        return _of_value(_parsed(text), classes)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None


def labels_of_properties(properties: Mapping[str, str], classes: int, path: Path) -> tuple[str, ...] | None:
    """Read the labels that other tools write into a model file; None if it has none.

    Ultralytics writes `{0: 'cat', 1: 'dog'}`; another text under its key, or one of megabytes, is of another
    program. RapidAI writes a line for each class. Raises ModelError.
    """
    text = properties.get(NAMES, "")
    if len(text) > MAX_LABEL_BYTES or not OPENS_VALUE.match(text):
        return _of_as_many_lines(properties.get(CHARACTER, ""), classes)
    try:
        return _of_value(_parsed(text), classes)
    except ModelError as error:
        raise ModelError(f"{path}: its metadata property {NAMES} {error}; or give a file of labels") from None


def _of_as_many_lines(text: str, classes: int) -> tuple[str, ...] | None:
    """Return a label of each line; None if there are not as many as classes, or one of them cannot be a label."""
    labels = tuple(line.strip() for line in text.splitlines()) if len(text) <= MAX_LABEL_BYTES else ()
    is_fitting = len(labels) == classes and all(labels) and not any(map(problem_of, labels))
    return labels if is_fitting else None


def _text_of(path: Path) -> str:
    """Return the text with line feeds as line ends."""
    try:
        text = read_regular_file(path, MAX_LABEL_BYTES).decode("utf-8-sig")
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}; expected {FORMS}") from None
    except UnicodeDecodeError:
        raise ModelError(f"{path}: is not UTF-8 text; expected {FORMS}") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _of_lines(path: Path, text: str, classes: int) -> tuple[str, ...]:
    """Return the labels of lines, in the order of indexes where all lines begin with these. Raises ModelError."""
    text = text.rstrip()
    lines = tuple(line.replace("\t", " ").strip() for line in text.split("\n")) if text else ()
    for number, label in enumerate(lines, 1):
        if problem := problem_of(label):
            raise ModelError(f"{path}:{number}: expected a label: {problem}")
    if len(lines) != classes:
        raise ModelError(f"{path}: {_count(len(lines), classes)}: {_line_that_does_not_fit(lines, classes)}")
    by_index = _by_leading_index(lines)
    try:
        return _by_their_indexes(lines, by_index) if by_index else lines
    except ModelError as error:
        hint = f"expected indexes from 0 to {classes - 1}; if the numbers belong to the labels, write a JSON list"
        raise ModelError(f"{path}: {error}; {hint}") from None


def _by_leading_index(lines: Sequence[str]) -> dict[int, str]:
    """Return the rest of each line by the number at its beginning: `0 red`, `1: green`.

    Empty unless every line has another number, and something behind it.
    """
    found = [INDEXED.fullmatch(line) for line in lines]
    by_index = {int(match[1]): match[2] for match in found if match}
    return by_index if len(by_index) == len(lines) else {}


def _by_their_indexes(lines: tuple[str, ...], by_index: Mapping[int, str]) -> tuple[str, ...]:
    """Return the labels of lines that all begin with numbers, which may be indexes or belong to the labels.

    Raises ModelError where these would be different labels for a class.
    """
    indices, count = list(by_index), len(lines)
    if sorted(indices) not in (list(range(count)), list(range(1, count + 1))):
        return lines  # as in `20 km/h`
    is_in_order = indices == sorted(indices)
    if min(indices) or len(set(by_index.values())) < LEAST_DISTINCT * count:  # as in `1 finger`, `2 fingers`
        if is_in_order:
            return lines
        raise ModelError(f"its lines begin with {min(indices)} to {max(indices)} in another order")
    if not is_in_order and list(lines) == sorted(lines):  # as folders are listed: `1 one`, `10 ten`, `2 two`
        raise ModelError("its lines are in the order of their letters, not of their numbers")
    return _in_order(by_index)


def _line_that_does_not_fit(lines: Sequence[str], classes: int) -> str:
    """Name the first line that is one too many or missing, where there is another number of lines than classes."""
    if "" in lines:
        return f"line {lines.index('') + 1} is blank"
    if len(lines) == classes + 1 and lines[0].lower() in BACKGROUND:
        return f"line 1 is {lines[0]!r}, which the model has no class for; remove that line"
    wrong = next((i for i, index in enumerate(_by_leading_index(lines)) if i != index), None)
    if wrong is not None and lines[0].startswith("0"):
        return f"line {wrong + 1} is {lines[wrong]!r}, expected index {wrong}"
    if len(lines) > classes:
        return f"line {classes + 1} is {lines[classes]!r}, which the model has no class for"
    return f"line {len(lines) + 1} is missing; expected {FORMS}"


def _count(labels: int, classes: int) -> str:
    return f"has {counted(labels, 'label')} for the {counted(classes, 'class')} of the model"


def _parsed(text: str) -> object:
    """Parse JSON, or what Python's repr() writes of a dict or list. Raises ModelError."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        problem = f"is not JSON ({error})"
    try:
        if _is_plain_literal(text):
            return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError):
        pass
    raise ModelError(f"{problem}; expected {FORMS}")


def _is_plain_literal(text: str) -> bool:
    """Check whether a text consists of `TOKEN`s with little nesting."""
    offset, depth = 0, 0
    while offset < len(text):
        token = TOKEN.match(text, offset)
        if token is None:
            return False
        depth += (token["open"] is not None) - (token["close"] is not None)
        if not 0 <= depth <= MOST_NESTED:
            return False
        offset = token.end()
    return True


def _of_value(value: object, classes: int) -> tuple[str, ...]:
    """Return the labels of a list, or of an object of indexes and labels, either of them as keys.

    Raises ModelError.
    """
    if isinstance(value, dict):
        value = next((value[key] for key in PARTS if isinstance(value.get(key), dict | list)), value)
    by_index = {index: _label(index, name) for index, name in _by_index(value).items()}
    if set(by_index) != set(range(classes)):
        raise ModelError(f"{_count(len(by_index), classes)}: {_class_that_does_not_fit(by_index, classes)}")
    return _in_order(by_index)


def _class_that_does_not_fit(by_index: Mapping[int, str], classes: int) -> str:
    if len(by_index) == classes + 1 and by_index.get(0, "").lower() in BACKGROUND:
        return f"class 0 is {by_index[0]!r}, which the model does not have; remove it"
    missing = [index for index in range(classes) if index not in by_index]
    if missing:
        return f"none for class {missing[0]}; expected indexes from 0 to {classes - 1}"
    beyond = min(index for index in by_index if index >= classes)
    return f"class {beyond} is {by_index[beyond]!r}, which the model does not have"


def _by_index(value: object) -> dict[int, object]:
    """Return what stands for each index. Raises ModelError."""
    if isinstance(value, list | tuple):
        return dict(enumerate(value))
    if not isinstance(value, dict) or not value:
        raise ModelError(f"holds no labels; expected {FORMS}")
    by_index: dict[int, object] = {}
    for index, name in _pairs(value):
        if index in by_index:
            raise ModelError(f"has two labels for class {index}: {by_index[index]!r} and {name!r}")
        by_index[index] = name
    return by_index


def _pairs(value: Mapping[object, object]) -> list[tuple[int, object]]:
    """Return indexes and labels of an object, whose keys are either of them. Raises ModelError."""
    numbers = all(type(found) is int for found in value.values())  # {"0": 1, "1": 0}: labels that are digits
    pairs = [(_index(key), found) for key, found in value.items()]
    if numbers or any(index is None for index, _ in pairs):
        pairs = [(_index(found), key) for key, found in value.items()]
    wrong = next(
        ((key, found) for (index, _), (key, found) in zip(pairs, value.items(), strict=True) if index is None),
        None,
    )
    if wrong:
        raise ModelError(f"has {wrong[0]!r}: {_shown(wrong[1])}, of which neither is an index; expected {FORMS}")
    return [(index, name) for index, name in pairs if index is not None]


def _index(value: object) -> int | None:
    """Return the index that a number or a text stands for."""
    if isinstance(value, str):
        return int(value) if re.fullmatch(r"\d{1,9}", value, re.ASCII) else None
    return value if type(value) is int and value >= 0 else None


def _label(index: int, name: object) -> str:
    """Return a label from a text, a number, or the pair of texts that Keras writes. Raises ModelError."""
    if isinstance(name, list | tuple) and len(name) == 2 and WORDNET.fullmatch(str(name[0])):
        name = name[1]
    if not isinstance(name, str) and type(name) is not int:
        raise ModelError(f"class {index}: expected a label, found {_shown(name)}")
    label = str(name).strip()
    if problem := problem_of(label):
        raise ModelError(f"class {index}: expected a label: {problem}")
    return label


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"


def _in_order(by_index: Mapping[int, str]) -> tuple[str, ...]:
    return tuple(by_index[index] for index in sorted(by_index))
