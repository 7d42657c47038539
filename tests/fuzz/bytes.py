"""Bytes that were flipped, cut, doubled and made up."""

import random


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
