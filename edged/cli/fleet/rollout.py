"""`edged fleet rollout`, `pause`, `resume` and `rollback`: what the fleet's agents follow from then on."""

import argparse
import asyncio
import secrets
from typing import Literal

from edged.cli.fleet.connection import open_store
from edged.errors import ConfigError
from edged.fleet.agent import SILENT_S
from edged.fleet.gate import parse_gate
from edged.fleet.records import DONE, Rollout
from edged.fleet.stages import stages_of
from edged.fleet.store import FleetState, FleetStore

STATES: dict[str, Literal["running", "paused", "rolled_back"]] = {
    "pause": "paused",
    "resume": "running",
    "rollback": "rolled_back",
}


def run(arguments: argparse.Namespace) -> int:
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
            f"the roll-out of {now.model} is not over on {', '.join(busy[:3])}: wait for it, or take it back by "
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
