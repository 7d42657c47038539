"""The agent of a board: read the fleet's roll-out, do its next step here, report."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from edged.errors import ServerError
from edged.fleet.answers import DaemonAnswers
from edged.fleet.board import BoardFiles
from edged.fleet.records import NodeReport, Rollout, SignedModel, why_wait
from edged.fleet.steps import RolloutSteps, Surroundings
from edged.fleet.store import FleetState, FleetStore
from edged.fleet.store_link import StoreLink

TURN_S = 1.0
REPORT_S = 5.0
SILENT_S = 60.0  # a node that has not reported for so long is not waited for


class Agent:
    """Follows roll-outs. `connect`: see `StoreLink`."""

    def __init__(
        self,
        node: str,
        around: Surroundings,
        board: BoardFiles,
        answers: DaemonAnswers,
        connect: Callable[[], Awaitable[FleetStore]],
    ) -> None:
        self._node, self._answers, self._link = node, answers, StoreLink(connect)
        self._steps = RolloutSteps(around, board, answers, self._fetch)
        self._fleet = FleetState()
        self._reported_s = self._read_s = 0.0

    async def run(self) -> None:
        """Work until it is cancelled. Raises ConfigError."""
        try:
            while True:
                await self._turn()
                await asyncio.sleep(TURN_S)
        finally:
            self._steps.stop()

    async def _turn(self) -> None:
        before = self._steps.progress
        await self._link.exchange(self._read)
        if rollout := self._fleet.rollout or self._unfinished():
            why = why_wait(rollout, self._node, self._fleet.nodes, self._fleet.silent(SILENT_S))
            await self._steps.follow(rollout, why)
        if self._steps.progress != before or time.monotonic() - self._reported_s > REPORT_S:
            await self._link.exchange(self._report)

    def _unfinished(self) -> Rollout | None:
        """Return the roll-out whose model answers here and is not judged yet: that needs no server."""
        progress = self._steps.progress
        return progress.order if progress.phase in {"promoting", "watching", "rolling_back"} else None

    async def _read(self, store: FleetStore) -> None:
        """Read the roll-out; and what the other nodes report, but less often, if this one waits for them."""
        found = await store.rollout()
        rollout, progress = found[0] if found else None, self._steps.progress
        waits = progress.phase == "waiting" and time.monotonic() - self._read_s > REPORT_S
        if waits or (rollout and rollout.id != progress.rollout):
            self._fleet, self._read_s = await store.state(), time.monotonic()
        self._fleet.rollout = rollout

    async def _fetch(self, model: SignedModel, path: Path) -> None:
        if self._link.store is None:
            raise ServerError("no server of the fleet answers")
        await self._link.store.fetch(model, path)

    async def _report(self, store: FleetStore) -> None:
        self._reported_s = time.monotonic()
        progress, last = self._steps.progress, self._answers.last
        recent = self._answers.figures(last.sha256) if last else None
        await store.report(
            NodeReport(
                node=self._node,
                phase=progress.phase,
                message=progress.message,
                rollout=progress.rollout,
                model=last.model if last else "",
                sha256=last.sha256 if last else "",
                first_seq=progress.first_seq,
                trial=progress.trial,
                in_use=progress.in_use,
                per_second=self._answers.per_second(),
                p99_s=recent.p99_s if recent else None,
                joules=recent.joules if recent else None,
            )
        )
