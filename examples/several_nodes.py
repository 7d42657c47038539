"""Print the predictions of several nodes with asyncio: `python examples/several_nodes.py ADDRESS ADDRESS …`."""

import asyncio
import sys

from edged.client import asynchronous


async def main(addresses: list[str]) -> None:
    """Print until Ctrl-C."""
    async for prediction in asynchronous.subscribe(*addresses):
        print(prediction.node, prediction.seq, prediction.top[0].label, flush=True)


asyncio.run(main(sys.argv[1:] or ["tcp://127.0.0.1:5570"]))
