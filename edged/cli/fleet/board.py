"""`edged fleet agent` and `trial`: follow the roll-outs on this board; compare a model with the active one."""

import argparse
import asyncio
import sys
import time
from collections.abc import Iterator
from contextlib import suppress

from edged.arithmetic import ceil_div
from edged.cli.daemon_client import DaemonClient, connect_daemon
from edged.cli.options import log_level
from edged.cli.pictures import random_images
from edged.cli.samples import read_sample, receive_started, samples_from
from edged.config import Config, FleetConfig, NatsConfig, WorkerConfig
from edged.config.load import load_config, model_link
from edged.config.validation_errors import missing_section
from edged.errors import ConfigError, EdgedError
from edged.fleet.agent import Agent
from edged.fleet.answers import DaemonAnswers
from edged.fleet.board import BoardFiles
from edged.fleet.gate import Comparison
from edged.fleet.signing import load_signers
from edged.fleet.steps import Surroundings
from edged.fleet.store import FleetStore
from edged.fleet.trial import VERIFIED, AnsweredFrame, check_comparable, compare, verify
from edged.messages import Stop
from edged.messages.teaching import MOST_A_SECOND, TeachRequest
from edged.model.package import load_model
from edged.system import exclusive_lock, log
from edged.system.plain_text import counted
from edged.system.terminal import StatusLine, interrupt_on_sigterm, note
from edged.teach.device_choice import lower_priority
from edged.transport.client_socket import curve_of
from edged.transport.nats import close, connect


def run_agent(arguments: argparse.Namespace) -> int:
    """Work until Ctrl-C or SIGTERM. Raises ConfigError."""
    log.configure(log_level(arguments))
    config = load_config(arguments.config)
    nats, fleet = _sections(config, arguments)
    board = BoardFiles(model_link(arguments.config), config.node)
    exclusive_lock.hold(f"fleet-{config.node}", within_s=0)
    note(f"{config.node} follows its fleet; {board.link} is {board.target}; Ctrl-C ends it")
    around = Surroundings(fleet, load_signers(fleet.signers), str(arguments.config), edged)
    answers = DaemonAnswers(config.publish.address, config.node, curve_of(arguments.key, arguments.server_key))

    async def open_store() -> FleetStore:
        client = await connect(nats, f"edged-fleet-{config.node}", reconnects=False)
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


def run_trial(arguments: argparse.Namespace) -> int:
    """Print the figures of both models. Raises ModelError, DeviceError where the model must not be used here."""
    config = load_config(arguments.config)
    worker = worker_of(config)
    before = load_model(config.model)
    after = load_model(config.model.model_copy(update={"path": arguments.model.absolute(), "name": None}))
    check_comparable(before, after)
    with suppress(PermissionError):  # where systemd has set the priority already
        lower_priority()
    verify(after, worker, random_images(after.input, VERIFIED))
    samples = samples_of(arguments, config, before.sha256)
    found = compare(before, after, worker, config.energy, samples)
    if found.after.frames < arguments.frames:
        raise EdgedError(
            f"only {found.after.frames} of {arguments.frames} frames came within {arguments.duration:g} s"
        )
    print(found.model_dump_json() if arguments.json else "\n".join(_lines(found)))
    return 0


def worker_of(config: Config) -> WorkerConfig:
    """Return the first worker. Raises ConfigError if one is on another host, whose model cannot be changed."""
    if elsewhere := [worker.host for worker in config.workers if worker.host]:
        raise ConfigError(
            f"a worker is on {elsewhere[0]}: only where all are on the hub's host a model can be changed"
        )
    return config.workers[0]


def samples_of(arguments: argparse.Namespace, config: Config, model: str) -> Iterator[AnsweredFrame]:
    """Yield frames that the daemon has answered, in equal numbers of each camera. Raises EdgedError."""
    line, ends_s = StatusLine(), time.monotonic() + arguments.duration
    cameras = list(config.cameras)
    left = arguments.frames
    for index, camera in enumerate(cameras):
        wanted = ceil_div(left, len(cameras) - index)
        seconds = (ends_s - time.monotonic()) / (len(cameras) - index)
        if wanted and seconds > 0:
            with connect_daemon(arguments.config, "teach") as daemon:
                for sample in _of_camera(daemon, camera, model, wanted, seconds):
                    left -= 1
                    line.show(f"edged: compared {arguments.frames - left} of {counted(arguments.frames, 'frame')}")
                    yield sample
    line.clear()


def _of_camera(
    daemon: DaemonClient, camera: str, model: str, frames: int, seconds: float
) -> Iterator[AnsweredFrame]:
    request = TeachRequest(mode="record", camera=camera, every_s=2 / MOST_A_SECOND, frames=frames, seconds=seconds)
    daemon.send(request)
    begins = receive_started(daemon)
    if begins.base and begins.base.sha256 != model:
        raise EdgedError(f"the daemon runs the model {begins.base.sha256[:12]}, its config names {model[:12]}")
    for message, payload in samples_from(daemon):
        pixels, _ = read_sample(message, payload)
        yield AnsweredFrame(pixels, message.top[0].label if message.top else "")
    daemon.send(Stop())


def _lines(found: Comparison) -> Iterator[str]:
    yield f"{counted(found.after.frames, 'frame')}; the published label: {found.agreement or 0:.1%}"
    for name, figures in (("answers", found.before), ("tried", found.after)):
        p99 = "" if figures.p99_s is None else f"p99 {figures.p99_s * 1000:.2f} ms"
        joules = "" if figures.joules is None else f", {figures.joules:.4f} J a frame"
        yield f"{name:8} {p99}{joules}, not finite {figures.not_finite}"
    if found.after.joules is None:
        yield found.joules_note
