"""Who may write a fleet's records, by the operator's key for NATS, but has not the key that signs models."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from hashlib import sha256

import nats
from nats.js import JetStreamContext

from tests.e2e.daemon import START_S
from tests.e2e.fleet import Fleet


def exchange_model_while_fetching(fleet: Fleet, content: bytes) -> None:
    """Put an unsigned model into the record of the roll-out, once a board has begun with the signed one."""
    changed = sha256(content).hexdigest()
    unsigned = {"name": "doors-2", "file": "doors-2.onnx", "sha256": changed, "size": len(content)}

    async def exchange(stream: JetStreamContext) -> None:
        bucket, store = await stream.key_value("edged_fleet"), await stream.object_store("edged_models")
        await store.put(changed, content)
        async for entry in await bucket.watch("node.north"):
            if entry and json.loads(entry.value or b"")["phase"] == "fetching":
                break
        record = json.loads((await bucket.get("rollout")).value or b"")
        await bucket.put("rollout", json.dumps({**record, "model": unsigned}).encode())

    with_the_operators_nkey(fleet, exchange)


def with_the_operators_nkey(fleet: Fleet, act: Callable[[JetStreamContext], Awaitable[None]]) -> None:
    """Act as who has the operator's key for NATS could, without the one that signs."""

    async def connected() -> None:
        seed = str(fleet.folder / "operator.nkey")
        client = await nats.connect(f"nats://127.0.0.1:{fleet.port}", nkeys_seed=seed)
        await asyncio.wait_for(act(client.jetstream()), 2 * START_S)
        await client.close()

    asyncio.run(connected())
