"""A connection to the fleet's store for one command."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from edged.config.load import load_operator
from edged.fleet.store import FleetStore
from edged.transport.nats import close, connect


@asynccontextmanager
async def open_store(operator: Path, *, create: bool = False) -> AsyncIterator[FleetStore]:
    """Open the store that the operator's file names. Raises ConfigError, ServerError."""
    client = await connect(load_operator(operator), "edged-fleet", reconnects=False)
    try:
        yield await FleetStore.open(client, create=create)
    finally:
        await close(client)
