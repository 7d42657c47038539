"""YAML text as plain values, and where each of them stands.

Scalars are resolved by YAML 1.2's core schema (yaml.org/spec/1.2.2, section 10.3.2), not by PyYAML's 1.1: `no`,
`off` and `12:30` are text, `010` is ten, `1e-3` is a number. Keys are always text. Documents that are too large or
too deep are rejected.
"""

import re
from dataclasses import dataclass, field

import yaml

MAX_NODES = 10_000
MAX_DEPTH = 20

Path = tuple[str | int, ...]
Value = str | int | float | bool | None | list["Value"] | dict[str, "Value"]

_TAG = "tag:yaml.org,2002:"
_NULL = {"", "~", "null", "Null", "NULL"}
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"[-+]?\d{1,18}|0o[0-7]{1,18}|0x[0-9a-fA-F]{1,15}", re.ASCII)
_FLOAT = re.compile(r"[-+]?(\.\d+|\d+(\.\d*)?)(e[-+]?\d+)?|[-+]?\.inf|\.nan", re.ASCII | re.IGNORECASE)
_IN_PLAIN_WORDS = {  # by the start of PyYAML's message
    "mapping values are not allowed here": "a ':' where no key can be: indent the line as its neighbours are, "
    "or put quotes around a text that holds ': '",
    "could not find expected ':'": "expected 'key: value'",
    "expected <block end>, but found": "indented otherwise than the lines above",
    "found character '\\t'": "a tab: YAML is indented with spaces",
    "found character": "a text that starts with this character needs quotes",
    "found unexpected end of stream": "a quote that is never closed",
    "expected ',' or": "a '{' or '[' before this is not closed, or a ',' is missing",
    "but found another document": "a second document: there must be one alone",
}


@dataclass(frozen=True)
class Position:
    """Line and column, from 1; both 0 for a value that no file holds.

    `source`: where it stands if not in the config file: a drop-in, an environment variable or `--set`.
    """

    line: int
    column: int
    source: str = ""


@dataclass(frozen=True)
class Mistake:
    """An error: what is wrong, and where, in the file and in the tree of keys."""

    position: Position
    path: Path
    message: str


@dataclass
class Document:
    """The values of a YAML file, and the places of keys and values by path."""

    value: Value = None
    keys: dict[Path, Position] = field(default_factory=dict)
    values: dict[Path, Position] = field(default_factory=dict)
    mistakes: list[Mistake] = field(default_factory=list)

    def nearest(self, path: Path) -> Position:
        """Return the place of the value at `path`, or of its nearest parent."""
        while path and path not in self.values:
            path = path[:-1]
        return self.values.get(path, Position(1, 1))


class _Loader(yaml.SafeLoader):
    """PyYAML's scanner and parser, with limits."""

    nodes = 0
    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        self.nodes += 1
        self.depth += 1
        _check_limits(self.nodes, self.depth, self.peek_event().start_mark)  # type: ignore[no-untyped-call]
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def resolve(self, kind: type[yaml.Node], value: str | None, implicit: tuple[bool, bool]) -> str:
        """Return the tag of a node without one, in place of PyYAML's guess."""
        return f"{_TAG}plain" if kind is yaml.ScalarNode and implicit[0] else f"{_TAG}str"


class _Walk:
    """Converts nodes to values.

    An alias is converted again at each use, so that the limits cover its expansion.
    """

    def __init__(self) -> None:
        self.document = Document()
        self.nodes = 0

    def value(self, node: yaml.Node, path: Path) -> Value:
        self.nodes += 1
        _check_limits(self.nodes, len(path), node.start_mark)
        self.document.values[path] = _position(node.start_mark)
        if node.tag not in {f"{_TAG}plain", f"{_TAG}str"}:
            self._mistake(node, path, "a tag such as !!int: remove it, none is needed here")
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
        return self._scalar(node, path)

    def _mapping(self, node: yaml.MappingNode, path: Path) -> Value:
        result: dict[str, Value] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode) or not key_node.value.isprintable():
                self._mistake(key_node, path, "a key must be text of one line")
                continue
            key = key_node.value
            here = (*path, key)
            if key in result:
                first = self.document.keys[here].line
                self._mistake(key_node, here, f"this key is repeated (first in line {first}): keep one")
                continue
            self.document.keys[here] = _position(key_node.start_mark)
            result[key] = self.value(value_node, here)
            if isinstance(value_node, yaml.ScalarNode) and not value_node.value:
                self.document.values[here] = self.document.keys[here]  # there is no position to report
        return result

    def _scalar(self, node: yaml.Node, path: Path) -> Value:
        text: str = node.value
        if not text.isprintable():
            self._mistake(node, path, "a line break or a control character, where text of one line is expected")
            return ""
        return text if node.tag != f"{_TAG}plain" else resolve(text)

    def _mistake(self, node: yaml.Node, path: Path, message: str) -> None:
        self.document.mistakes.append(Mistake(_position(node.start_mark), path, message))


def read(text: str) -> Document:
    """Parse `text` into values and places. A syntax error is the only mistake of its document."""
    loader = None
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        walk = _Walk()
        if node is not None:
            walk.document.value = walk.value(node, ())
        return walk.document
    except yaml.MarkedYAMLError as error:
        unclosed = error.problem == "found unexpected end of stream"
        mark = error.context_mark if unclosed else error.problem_mark
        problem = error.problem or error.context or "not YAML"
        message = next(
            (words for start, words in _IN_PLAIN_WORDS.items() if problem.startswith(start)),
            f"not YAML: {problem}",
        )
        return Document(mistakes=[Mistake(_position(mark) if mark else Position(1, 1), (), message)])
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        position = Position(before.count("\n") + 1, error.position - before.rfind("\n"))
        message = f"not text: character {error.character:#x}"
        return Document(mistakes=[Mistake(position, (), message)])
    except (ValueError, OverflowError):  # of PyYAML itself: "\UFFFFFFFF", or a %YAML with thousands of digits
        position = _position(loader.get_mark()) if loader else Position(1, 1)
        return Document(mistakes=[Mistake(position, (), "not YAML: a number out of range")])


def resolve(text: str) -> Value:
    """Return the value of an unquoted scalar by the core schema. A number with too many digits stays text."""
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    if _INT.fullmatch(text):
        return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
    if _FLOAT.fullmatch(text):
        return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
    return text


def _check_limits(nodes: int, depth: int, mark: yaml.Mark) -> None:
    if nodes > MAX_NODES:
        raise yaml.MarkedYAMLError(problem=f"more than {MAX_NODES} values", problem_mark=mark)
    if depth > MAX_DEPTH:
        raise yaml.MarkedYAMLError(problem=f"nested more than {MAX_DEPTH} deep", problem_mark=mark)


def _position(mark: yaml.Mark) -> Position:
    return Position(mark.line + 1, mark.column + 1)
