"""Text of others that goes to terminals and into JSON: labels, names of models and of folders."""

import unicodedata

MAX_CHARACTERS = 256
BIDIRECTIONAL = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")  # let text look like another
CONTROLS = frozenset(
    {"Cc", "Cs", "Zl", "Zp"}
)  # categories of Unicode: Cs is half a character, which no JSON holds


def problem_of(text: str) -> str:
    """Why `text` is no plain text on one line: it would steer a terminal, or break JSON; empty where it is."""
    if len(text) > MAX_CHARACTERS:
        return f"it has {len(text)} characters; up to {MAX_CHARACTERS} are supported"
    control = next(filter(_is_control, text), None)
    return f"it holds the control character U+{ord(control):04X}: remove it" if control else ""


def plain(text: str) -> str:
    """`text` with `?` for each control character, cut where it is too long."""
    return "".join("?" if _is_control(character) else character for character in text[:MAX_CHARACTERS])


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in CONTROLS or character in BIDIRECTIONAL
