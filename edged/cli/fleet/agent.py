"""`edged fleet agent`: follow the fleet's roll-outs on this board."""

import argparse
import asyncio
import logging
import sys
from contextlib import suppress

from edged.cli.terminal import interrupt_on_sigterm, note
from edged.config import Config, FleetConfig, NatsConfig
from edged.config.load import load_config, model_link
from edged.config.validation_errors import missing_section
from edged.fleet.agent import Agent
from edged.fleet.answers import DaemonAnswers
from edged.fleet.board import BoardFiles
from edged.fleet.signing import load_signers
from edged.fleet.steps import Surroundings
from edged.fleet.store import FleetStore
from edged.system import exclusive_lock
from edged.transport.client_socket import curve_of
from edged.transport.nats import close, connect


def run(arguments: argparse.Namespace) -> int:
    """Work until Ctrl-C or SIGTERM. Raises ConfigError."""
    logging.getLogger("edged.fleet").setLevel(logging.INFO)
    config = load_config(arguments.config)
    nats, fleet = _sections(config, arguments)
    board = BoardFiles(model_link(arguments.config), config.node)
    exclusive_lock.hold(f"fleet-{config.node}", within_s=0)
    note(f"{config.node} follows its fleet; {board.link} is {board.target}; Ctrl-C ends it")
    around = Surroundings(fleet, load_signers(fleet.signers), str(arguments.config), edged)
    answers = DaemonAnswers(config.publish.address, config.node, curve_of(arguments.key, arguments.server_key))

    async def open_store() -> FleetStore:
        client = await connect(nats, f"edged-fleet-{config.node}")
        try:
            return await FleetStore.open(client)
        except BaseException:
            await close(client)
            raise

    interrupt_on_sigterm()
    answers.start()
    try:
        with suppress(KeyboardInterrupt):
            asyncio.run(Agent(config.node, around, board, answers, open_store).run())
    finally:
        answers.stop()
    return 0


def _sections(config: Config, arguments: argparse.Namespace) -> tuple[NatsConfig, FleetConfig]:
    if config.nats is None:
        raise missing_section(arguments.config, "nats", "{servers: ['tls://HOST']}")
    if config.fleet is None:
        raise missing_section(arguments.config, "fleet", "{signers: [FOLDER]}")
    return config.nats, config.fleet


async def edged(*arguments: str) -> tuple[int, str, str]:
    """Run a command of edged; return its exit code, output and errors. It ends with this coroutine."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "edged", *arguments, stdout=pipe, stderr=pipe
    )
    try:
        output, errors = await process.communicate()
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    return process.returncode or 0, output.decode(errors="replace"), errors.decode(errors="replace")
