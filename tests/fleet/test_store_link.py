"""The connection of a board to its fleet, while the server is away and when it is back."""

import asyncio

import pytest

from edged.errors import ConfigError, ServerError
from edged.fleet.store import FleetStore
from edged.fleet.store_link import StoreLink
from edged.system.backoff import Backoff

AWAY = ServerError("no server at 192.0.2.1")


class Board:
    """A board that has a turn each second. `away`: what its attempts to connect raise."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.away: Exception | None = AWAY
        self.attempts: list[float] = []
        self.read: list[float] = []
        backoff = Backoff(chance=lambda: 0.0, longest_s=30.0)
        self.link = StoreLink(self.connect, backoff, clock=lambda: self.now_s)

    async def connect(self) -> FleetStore:
        self.attempts.append(self.now_s)
        if self.away:
            raise self.away
        return OpenStore()

    async def talk(self, store: FleetStore) -> None:
        self.read.append(self.now_s)

    def turns(self, seconds: int) -> None:
        for _ in range(seconds):
            asyncio.run(self.link.exchange(self.talk))
            self.now_s += 1


class OpenStore(FleetStore):
    """A store whose connection is `lost` when the test says so."""

    def __init__(self) -> None:
        self.lost = False

    @property
    def is_closed(self) -> bool:
        return self.lost


def test_a_server_that_is_away_is_tried_less_and_less_often(caplog: pytest.LogCaptureFixture) -> None:
    board = Board()

    board.turns(100)

    assert board.attempts == [0, 1, 2, 4, 8, 16, 32, 62, 92]
    assert caplog.messages == [f"{AWAY}; trying again"]


def test_after_a_server_has_answered_the_waits_are_short_again() -> None:
    board = Board()
    board.turns(33)
    board.away = None
    board.turns(37)
    assert board.read == [62, 63, 64, 65, 66, 67, 68, 69]

    assert isinstance(board.link.store, OpenStore)
    board.link.store.lost, board.away = True, AWAY
    board.turns(9)

    assert board.attempts[-5:] == [70, 71, 72, 74, 78]


def test_a_mistake_of_the_user_is_not_tried_again() -> None:
    board = Board()
    board.away = ConfigError("NATS needs nats-py")

    with pytest.raises(ConfigError):
        board.turns(1)
