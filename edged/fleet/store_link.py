"""Keep a board's connection to the fleet's store, and try less and less often while no server answers."""

import logging
import time
from collections.abc import Awaitable, Callable

from edged.errors import ConfigError, EdgedError
from edged.fleet.store import FleetStore
from edged.system.backoff import Backoff

LONGEST_WAIT_S = 30.0  # as the bridge to NATS

log = logging.getLogger("edged.fleet")


class StoreLink:
    """Reads and writes the store. `connect`: opens it; it is called again once the connection is lost.

    clock: seconds, monotonic.
    """

    def __init__(
        self,
        connect: Callable[[], Awaitable[FleetStore]],
        backoff: Backoff | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.store: FleetStore | None = None
        self._connect, self._clock = connect, clock
        self._backoff = backoff or Backoff(longest_s=LONGEST_WAIT_S)
        self._again_s = clock()
        self._problem = ""

    async def exchange(self, talk: Callable[[FleetStore], Awaitable[None]]) -> None:
        """Read or write the store, unless it is too early to try again after a failure. Raises ConfigError.

        A server that is absent stops no roll-back, so it is only logged.
        """
        if self._clock() < self._again_s:
            return
        try:
            if self.store is None or self.store.is_closed:
                self.store = await self._connect()
            await talk(self.store)
        except ConfigError:
            raise
        except EdgedError as error:
            self._fail(error)
        else:
            self._succeed()

    def _fail(self, error: EdgedError) -> None:
        wait_s = self._backoff.failed()
        self._again_s = self._clock() + wait_s
        if str(error) != self._problem:
            log.warning("%s; trying again", error)
        self._problem = str(error)
        log.debug("next attempt in %.1f s", wait_s)

    def _succeed(self) -> None:
        self._backoff.succeeded()
        if self._problem:
            log.info("the fleet's server answers again")
        self._problem = ""
