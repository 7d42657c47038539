"""Damage bytes (flipped, cut, doubled, made up), and documents (with something odd among keys and values)."""

import copy
import random
from typing import Any, Final

ODD: Final[tuple[Any, ...]] = (
    *(
        None,
        True,
        False,
        [],
        {},
        "",
        " ",
        "0",
        "\0",
        "\u2028",
        "a" * 70,
        "x" * 5000,
        "~",
        "../..",
        "rtsp://u:p@h/",
    ),
    *(0, -1, 1, 2, 255, 2**31, 2**53 + 1, 2**63 - 1, 2**63, -(2**63) - 1, 10**400, 0.5, -0.0, 1e-400, 1e308),
    *(float("inf"), float("nan"), [[[[[]]]]], [1, 2], [0.0, 0.0, 1.0, 1.0], {"a": {"b": {"c": 1}}}, "tcp://*:0"),
)


def damaged(content: bytes, chance: random.Random) -> bytes:
    """At one to four places, more of them near the front, where structure lies."""
    result = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        place = int(len(result) * chance.random() ** 2)
        match chance.randrange(6):
            case 0 | 1 if result:
                result[place] ^= 1 << chance.randrange(8)
            case 2:
                del result[place : place + chance.randint(1, 200)]
            case 3:
                result[place:place] = result[place : place + chance.randint(1, 200)]
            case 4:
                result[place:place] = chance.randbytes(chance.randint(1, 8))
            case _:
                del result[place:]
    return bytes(result)


def changed(value: Any, chance: random.Random) -> Any:
    """A copy with one to three places that hold another value, none, or what stands elsewhere."""
    result = copy.deepcopy(value)
    for _ in range(chance.choice((1, 1, 2, 3))):
        places = _places(result)
        if places:
            _change(*chance.choice(places), chance.choice(places), chance)
    return result


def _change(inside: Any, key: Any, other: tuple[Any, Any], chance: random.Random) -> None:
    match chance.randrange(6):
        case 0 | 1 | 2:
            inside[key] = copy.deepcopy(chance.choice(ODD))
        case 3:
            del inside[key]
        case 4:
            inside[key] = copy.deepcopy(other[0][other[1]])
        case _ if isinstance(inside, dict):
            inside[str(chance.choice((*ODD, *inside)))] = inside.pop(key)
        case _:
            inside[key:key] = [copy.deepcopy(inside[key])] * chance.choice((1, 3, 1000))


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Each list or dict with each of its indices or keys, at any depth."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    return [(value, key) for key in keys] + [place for key in keys for place in _places(value[key])]
