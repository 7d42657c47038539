"""`edged fleet status` and `top`: the roll-out, and all nodes at a glance."""

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from edged.cli.fleet.operator import open_store
from edged.cli.terminal import interrupt_on_sigterm
from edged.fleet.gate import Comparison
from edged.fleet.records import NodeReport
from edged.fleet.store import FleetState
from edged.system.plain_text import aligned, printable, printable_json, printable_lines

HEAD = ("node", "phase", "model", "from", "per s", "p99 ms", "mJ", "agree", "silent", "")
CLEAR = "\x1b[H\x1b[J"  # to the first place, and erase the screen (ECMA-48: CUP, ED)
SILENT_S = 15.0


def run(arguments: argparse.Namespace) -> int:
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
        _agreement(node.trial),
        f"{silent:.0f} s" if silent > SILENT_S else "",
        printable(node.message) if is_of_it else "",
    )


def _agreement(trial: Comparison | None) -> str:
    return "" if trial is None else _number(trial.agreement, 3)


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"
