"""Text of others on a terminal: a label, a file's or a node's name may hold what would steer it."""


def printable(text: str) -> str:
    """The text with `?` in place of what is no letter, sign or blank; one line."""
    return "".join(character if character.isprintable() else "?" for character in text)


def printable_lines(text: str) -> str:
    """The same for a text of several lines."""
    return "\n".join(map(printable, text.split("\n")))


def printable_json(json: str) -> str:
    """The same value in JSON, with escapes in place of what JSON allows and a terminal obeys, as U+009B.

    `json`: on one line.
    """
    if json.isprintable():
        return json
    return "".join(character if character.isprintable() else _escaped(character) for character in json)


def _escaped(character: str) -> str:
    """As JSON does it, in UTF-16."""
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
