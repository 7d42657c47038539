"""The commands of a fleet's operator: make a key, publish a model, begin, pause or undo a roll-out, watch it."""

import argparse
import asyncio
import json
import secrets
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from edged import config
from edged.config.load import load_operator
from edged.errors import ConfigError, ModelError
from edged.fleet.agent import SILENT_S
from edged.fleet.board import sha256_of
from edged.fleet.gate import parse_gate
from edged.fleet.records import DONE, NodeReport, Rollout, SignedModel, stages_of
from edged.fleet.signing import load_signer, new_signer, sign
from edged.fleet.store import FleetState, FleetStore
from edged.model.model_file import model_stem
from edged.model.package import read_model
from edged.system.plain_text import aligned, printable, printable_json, printable_lines
from edged.system.terminal import interrupt_on_sigterm
from edged.transport.nats import close, connect

STATES: dict[str, Literal["running", "paused", "rolled_back"]] = {
    "pause": "paused",
    "resume": "running",
    "rollback": "rolled_back",
}

HEAD = ("node", "phase", "model", "from", "per s", "p99 ms", "mJ", "agree", "silent", "")
CLEAR = "\x1b[H\x1b[J"  # to the first place, and erase the screen (ECMA-48: CUP, ED)
NOTED_SILENCE_S = 15.0


@asynccontextmanager
async def open_store(operator: Path, *, create: bool = False) -> AsyncIterator[FleetStore]:
    """Open the store that the operator's file names. Raises ConfigError, ServerError."""
    client = await connect(load_operator(operator), "edged-fleet", reconnects=False)
    try:
        yield await FleetStore.open(client, create=create)
    finally:
        await close(client)


def make_key(arguments: argparse.Namespace) -> int:
    """Write both files; the secret is never printed."""
    key, pub = new_signer(arguments.output, arguments.name)
    if arguments.json:
        print(json.dumps({"key": str(key), "pub": str(pub)}))
        return 0
    print(f"{key}  secret: signs models; keep it where models are published, never on a board (mode 0600)")
    print(f"{pub}  public: add it to `fleet.signers` of every board that takes models of {arguments.name}")
    return 0


def publish(arguments: argparse.Namespace) -> int:
    """Check that the file is a model of one file, sign it, and upload it."""
    manifest = asyncio.run(_publish(arguments, _signed(arguments)))
    if arguments.json:
        print(manifest.model_dump_json())
    else:
        print(f"published {manifest}, {manifest.size / 1e6:.1f} MB, signed by {manifest.signer[:12]}…")
    return 0


def _signed(arguments: argparse.Namespace) -> SignedModel:
    path, signer = arguments.model, load_signer(arguments.key)
    _, is_split = read_model(config.ModelConfig(path=path))
    if is_split:
        raise ModelError(f"{path}: its weights are in other files: save it as one file, which one hash covers")
    try:
        manifest = SignedModel(
            name=arguments.name or model_stem(path),
            file=path.name,
            sha256=sha256_of(path),
            size=path.stat().st_size,
        )
    except ValidationError as error:
        place = error.errors()[0]["loc"][0]
        given = json.dumps(error.errors()[0]["input"])
        raise ConfigError(
            f"{place} {given}: expected letters, digits, '.', '_' and '-', and a file *.onnx"
        ) from None
    public, signature = sign(manifest.signed, signer)
    return manifest.model_copy(update={"signer": public, "signature": signature})


async def _publish(arguments: argparse.Namespace, manifest: SignedModel) -> SignedModel:
    async with open_store(arguments.config, create=True) as store:
        await store.publish(manifest, arguments.model)
    return manifest


def change_rollout(arguments: argparse.Namespace) -> int:
    """Write the roll-out; boards that are off follow it when they are back."""
    rollout = asyncio.run(_change(arguments))
    if arguments.json:
        print(rollout.model_dump_json())
        return 0
    print(f"{rollout.model}: {rollout.state.replace('_', ' ')}; gate {rollout.gate}")
    for number, stage in enumerate(rollout.stages, 1):
        print(f"  stage {number}, {stage.share:.0%}: {', '.join(stage.nodes)}")
    return 0


async def _change(arguments: argparse.Namespace) -> Rollout:
    if arguments.action == "rollout":
        parse_gate(arguments.gate)
    async with open_store(arguments.config) as store:
        state = await store.state()
        if arguments.action == "rollout":
            rollout = await _new(arguments, store, state)
        else:
            rollout = _changed(arguments, state)
        await store.begin(rollout, state.revision)
    return rollout


async def _new(arguments: argparse.Namespace, store: FleetStore, state: FleetState) -> Rollout:
    now, silent = state.rollout, state.silent(SILENT_S)
    ours = [node for node in state.nodes.values() if now and node.rollout == now.id and node.node not in silent]
    busy = [node.node for node in ours if node.phase not in DONE | {"waiting"}]
    if now and now.state != "rolled_back" and busy:
        raise ConfigError(
            f"the roll-out of {now.model} is not over on {', '.join(busy[:3])}: wait for it, or roll it back with "
            "`edged fleet rollback`"
        )
    name = secrets.token_hex(4)
    return Rollout(
        id=name,
        model=await store.model(arguments.name),
        gate=arguments.gate,
        stages=stages_of(name, state.nodes, (arguments.to, *arguments.then)),
    )


def _changed(arguments: argparse.Namespace, state: FleetState) -> Rollout:
    if state.rollout is None:
        raise ConfigError("there is no roll-out: `edged fleet rollout NAME --gate …` begins one")
    if state.rollout.state == "rolled_back" and arguments.action != "rollback":
        raise ConfigError(f"the roll-out of {state.rollout.model} was rolled back: begin a new one")
    return state.rollout.model_copy(update={"state": STATES[arguments.action]})


def show(arguments: argparse.Namespace) -> int:
    """Print the state once, or again and again."""
    if arguments.action == "status":
        _show(asyncio.run(_state(arguments)), as_json=arguments.json)
        return 0
    interrupt_on_sigterm()
    with suppress(KeyboardInterrupt):
        asyncio.run(_repeat(arguments))
    return 0


async def _state(arguments: argparse.Namespace) -> FleetState:
    async with open_store(arguments.config) as store:
        return await store.state()


async def _repeat(arguments: argparse.Namespace) -> None:
    async with open_store(arguments.config) as store:
        while True:
            state = await store.state()
            print(CLEAR if sys.stdout.isatty() and not arguments.json else "", end="")
            _show(state, as_json=arguments.json)
            sys.stdout.flush()
            await asyncio.sleep(arguments.every)


def _show(state: FleetState, *, as_json: bool) -> None:
    if as_json:
        print(printable_json(json.dumps(as_object(state), ensure_ascii=False)))
    else:
        print(printable_lines("\n".join(lines(state))))


def as_object(state: FleetState) -> dict[str, Any]:
    nodes = [{**node.model_dump(), "silent_s": state.silent_s(name)} for name, node in sorted(state.nodes.items())]
    rollout = state.rollout and state.rollout.model_dump()
    return {"rollout": rollout, "nodes": nodes, "models": [each.model_dump() for each in state.models.values()]}


def lines(state: FleetState) -> Iterator[str]:
    """Yield the roll-out, then a table of the nodes."""
    if rollout := state.rollout:
        stages = "; ".join(f"{stage.share:.0%} {', '.join(stage.nodes)}" for stage in rollout.stages)
        yield f"{rollout.model}: {rollout.state.replace('_', ' ')}; gate {rollout.gate}"
        yield f"stages: {stages}"
    else:
        yield "no roll-out"
    rows = [HEAD, *(_row(state, state.nodes[name]) for name in sorted(state.nodes))]
    yield from aligned(rows, left=len(HEAD))


def _row(state: FleetState, node: NodeReport) -> tuple[str, ...]:
    silent = state.silent_s(node.node)
    is_of_it = state.rollout is not None and node.rollout == state.rollout.id
    return (
        printable(node.node),
        node.phase.replace("_", " ") if is_of_it or not state.rollout else "waiting",
        printable(f"{node.model} {node.sha256[:8]}"),
        "" if node.first_seq is None else str(node.first_seq),
        _number(node.per_second, 1),
        _number(node.p99_s and node.p99_s * 1000, 1),
        _number(node.joules and node.joules * 1000, 1),
        "" if node.trial is None else _number(node.trial.agreement, 3),
        f"{silent:.0f} s" if silent > NOTED_SILENCE_S else "",
        printable(node.message) if is_of_it else "",
    )


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"
