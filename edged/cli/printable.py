"""Text of others on a terminal: a label or a node's name may hold what would steer it."""


def printable(text: str) -> str:
    """The text with `?` in place of what is no letter, sign or blank."""
    return "".join(character if character.isprintable() else "?" for character in text)
