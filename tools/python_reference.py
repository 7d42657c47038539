"""The page about what other programs may import: signatures and docstrings of `edged.Model` and `edged.client`."""

import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import edged.client
from edged.client import SnapshotPicture, asynchronous
from edged.inference.ready_model import ReadyModel

WIDTH = 100
ARRAY = re.compile(r"ndarray\[(?:tuple\[Any, \.\.\.\]|Any), dtype\[(\w+)\]\]")
PLAIN = re.compile(r"\b(?:[a-z_]+\.)+(?=[A-Za-z_]+)")  # the module of a type


def parts() -> list[str]:
    """Return the sections of the page."""
    return [
        "## edged.Model",
        _model(),
        "## edged.client",
        _doc(edged.client),
        *(_function("edged.client", each) for each in (edged.client.subscribe, edged.client.listen)),
        _function("edged.client", edged.client.recent_events),
        "### edged.client.SnapshotPicture\n\n"
        + _doc(SnapshotPicture)
        + "\n\n`header`: see [the message](messages.md#snapshot). `jpeg`: the picture, bytes.",
        "`Prediction`, `Event` and `Status` are the messages, with their fields as attributes: "
        "[messages and events](messages.md).",
        "## edged.client.asynchronous",
        _doc(asynchronous),
        *(_function("edged.client.asynchronous", each) for each in (asynchronous.subscribe, asynchronous.listen)),
    ]


def _model() -> str:
    arguments = _signature("edged.Model", ReadyModel.__init__)
    members = [
        _member(name, each)
        for name, each in vars(ReadyModel).items()
        if (not name.startswith("_") or name == "__call__") and inspect.getdoc(each)
    ]
    return "\n\n".join([arguments, _doc(ReadyModel), _doc(ReadyModel.__init__), *members])


def _member(name: str, member: Any) -> str:
    if isinstance(member, property):
        return f"### model.{name}\n\n{_doc(member)}"
    call = "model" if name == "__call__" else f"model.{name}"
    return f"### {call}(…)\n\n{_signature(call, member)}\n\n{_doc(member)}"


def _function(module: str, function: Callable[..., Any]) -> str:
    name = f"{module}.{function.__name__}"
    return f"### {name}\n\n{_signature(name, function)}\n\n{_doc(function)}"


def _signature(name: str, function: Callable[..., Any]) -> str:
    """Return a call with the types of its arguments, as a block of code."""
    signature = inspect.signature(function)
    own = [each for each in signature.parameters.values() if each.name != "self"]
    is_init = function.__name__ == "__init__"
    result = signature.empty if is_init else signature.return_annotation
    text = PLAIN.sub("", f"{name.rpartition('.')[2]}{signature.replace(parameters=own, return_annotation=result)}")
    prefix = name.removesuffix(name.rpartition(".")[2])
    text = prefix + ARRAY.sub(r"NDArray[\1]", text)
    if len(text) > WIDTH:
        text = _one_each(text)
    return f"```text\n{text}\n```"


def _one_each(text: str) -> str:
    """Put each argument on a line of its own."""
    start, end = text.index("("), text.rindex(")")
    depth, arguments, last = 0, [], start + 1
    for place in range(start + 1, end):
        depth += (text[place] in "[({") - (text[place] in "])}")
        if text[place] == "," and not depth:
            arguments.append(text[last:place])
            last = place + 1
    arguments.append(text[last:end])
    lines = "".join(f"    {argument.strip()},\n" for argument in arguments)
    return f"{text[: start + 1]}\n{lines}{text[end:]}"


def _doc(documented: Any) -> str:
    """Return a docstring as Markdown: examples and lists of arguments as such."""
    return "\n".join(_lines(inspect.getdoc(documented) or ""))


def _lines(text: str) -> Iterator[str]:
    is_example = is_list = False
    for line in text.splitlines():
        if line.startswith((">>> ", "... ")) != is_example:
            is_example = not is_example
            yield "```python" if is_example else "```"
        if line in {"Args:", "Raises:"}:
            is_list = True
            yield f"{line.removesuffix(':').replace('Args', 'Arguments')}:"
            yield ""
        elif is_list and (found := re.fullmatch(r"    (\w+): (.+)", line)):
            yield f"- `{found[1]}`: {found[2]}"
        elif is_example:
            yield line[4:]
        else:
            yield textwrap.dedent(line) if not is_list else f"  {line.strip()}".rstrip()
    if is_example:
        yield "```"
