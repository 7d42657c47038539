"""Messages of a peer: damaged bytes, and JSON that says something odd. What is read is written and read again."""

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from edged.errors import MessageError
from edged.messages import (
    ReplayAnswer,
    ReplayFailure,
    ReplayRequest,
    decode,
    encode,
    prediction_from_json,
    to_json,
)
from edged.messages.message import INVALID_JSON
from tests.messages.examples import LINK_MESSAGES, PREDICTION
from trials.fuzz.damage import changed, damaged
from trials.fuzz.trial import Case

REPLAYS = (
    ReplayRequest(first_seq=3, last_seq=9, since=1.5, limit=10),
    ReplayAnswer(predictions=2, first_kept=0, last_kept=9, next_seq=3),
    ReplayFailure(),
)


@contextmanager
def prepared() -> Iterator[Case]:
    """The case."""
    yield _case


def _case(chance: random.Random) -> str:
    message = chance.choice((*LINK_MESSAGES, *REPLAYS, PREDICTION))
    content = to_json(PREDICTION) if message is PREDICTION else msgspec.json.encode(message)
    if chance.random() < 0.3:
        content = damaged(content, chance)
    else:
        content = json.dumps(changed(json.loads(content), chance)).encode()
    try:
        if message is PREDICTION:
            prediction = prediction_from_json(content)
            assert prediction_from_json(to_json(prediction)) == prediction
        elif message in REPLAYS:
            answer = msgspec.json.decode(content, type=type(message))
            assert msgspec.json.decode(msgspec.json.encode(answer), type=type(message)) == answer
        else:
            link = decode(content)
            assert decode(encode(link)) == link
    except MessageError as error:
        return _refused(str(error))
    except INVALID_JSON as error:
        if message not in REPLAYS:  # only what serves and fetches these expects it
            raise
        return _refused(str(error))
    return "read"


def _refused(reason: str) -> str:
    assert len(reason) < 20_000
    return "refused"
