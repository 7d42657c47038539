"""How a board takes a model: one step a turn, until the model answers or is given up.

waiting → fetching → trial → ready → promoting → watching → promoted. A model that is unsigned, damaged, wrong on
this device or below the gate is `refused` before it answers; one that fails the gate while it answers is
`rolled_back`. A board follows the record of the roll-out as it first read and verified it: a record that changes
under its id cancels the roll-out. Each phase is on disk before it begins, so an agent that is killed continues
with it. A promotion and a roll-back need no server.
"""

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from edged.config import FleetConfig
from edged.errors import ConfigError, DeviceError, EdgedError, ModelError
from edged.fleet.answers import DaemonAnswers
from edged.fleet.board import BoardFiles, RolloutProgress
from edged.fleet.gate import Comparison, failures, measured_in_use, parse_gate
from edged.fleet.records import DONE, Phase, Rollout, SignedModel
from edged.fleet.signing import check_signature

USUAL = 30  # predictions of the daemon that the model in use is compared with, at least
ANSWERS_S = 120.0  # a model that has not answered by then after its promotion is rolled back
AGAIN_S = 10.0

log = logging.getLogger("edged.fleet")

Command = Callable[..., Awaitable[tuple[int, str, str]]]  # arguments of `edged` → exit code, output, errors
Fetch = Callable[[SignedModel, Path], Awaitable[None]]


@dataclass(frozen=True)
class Surroundings:
    """What the steps work with. `edged`: runs a command of edged to its end; `config`: the file for it."""

    settings: FleetConfig
    signers: Mapping[str, str]
    config: str
    edged: Command


class RolloutSteps:
    """The state of this board in a roll-out, which survives this process. `fetch`: gets a model from the store."""

    def __init__(self, around: Surroundings, board: BoardFiles, answers: DaemonAnswers, fetch: Fetch) -> None:
        self.progress = board.progress()
        self._around, self._board, self._answers, self._fetch_model = around, board, answers, fetch
        self._began_s = time.monotonic()  # of the phase
        self._not_before_s = 0.0
        self._trial: asyncio.Task[tuple[int, str, str]] | None = None
        self._not_finite = 0
        self._applied = ""  # the target of the link that the daemon has read on our request

    async def follow(self, rollout: Rollout, why_wait: str) -> None:
        """Do what is next. `why_wait`: why this node may not begin yet; empty if it may."""
        try:
            await self._follow(rollout, why_wait)
        except ModelError as error:
            log.warning("%s is refused: %s", self.progress.model, error)
            self._enter("refused", str(error))
        except (EdgedError, OSError) as error:
            self._say(f"{error}; tried again")
            self._not_before_s = time.monotonic() + AGAIN_S

    def stop(self) -> None:
        """End a trial that runs."""
        if self._trial:
            self._trial.cancel()
            self._trial = None

    async def _follow(self, rollout: Rollout, why_wait: str) -> None:
        phase = self.progress.phase
        if rollout.id != self.progress.rollout and phase not in {"promoting", "rolling_back"}:  # those end first
            self.stop()
            self.progress = RolloutProgress(rollout=rollout.id, order=rollout, model=rollout.model)
            self._enter("waiting")
        if rollout.id == self.progress.rollout:
            self._cancel_if_withdrawn(rollout)
        if time.monotonic() < self._not_before_s:
            return
        order, is_paused = self.progress.order or rollout, rollout.state == "paused"
        match self.progress.phase:
            case "waiting":
                self._begin(order, "paused" if is_paused else why_wait)
            case "fetching":
                await self._fetch(order.model)
            case "trial":
                self._try(order)
            case "ready":
                self._promote(order, is_paused=is_paused)
            case "promoting":
                await self._see_it_answer()
            case "watching":
                self._watch(order)
            case "rolling_back":
                await self._see_it_gone()

    def _cancel_if_withdrawn(self, now: Rollout) -> None:
        """End the roll-out if it is taken back, or if its record is no longer the one that this board follows."""
        is_same = now.model == self._model and now.orders_same(self.progress.order or now)
        if now.state == "rolled_back":
            self._cancel("taken back for the whole fleet")
        elif not is_same and self.progress.phase not in DONE:
            log.warning("the record of the roll-out %s was changed after this board had read it", now.id)
            self._cancel("the record of the roll-out was changed under its id: begin a new one")

    def _cancel(self, reason: str) -> None:
        """Undo what has been done."""
        match self.progress.phase:
            case "promoting" | "watching" | "promoted" if self.progress.before is not None:
                self._enter("rolling_back", reason)
            case phase if phase not in DONE and phase != "rolling_back":
                self.stop()
                self._enter("cancelled", reason)

    # ── before the model answers ──

    def _begin(self, rollout: Rollout, why_wait: str) -> None:
        """Check the signature of what the other steps follow, once it is this node's turn."""
        if why_wait:
            self._say(why_wait)
            return
        model, most = rollout.model, self._around.settings.max_megabytes
        try:
            parse_gate(rollout.gate)
        except ConfigError as error:
            raise ModelError(str(error)) from None
        signer = check_signature(model.signed, model.signer, model.signature, self._around.signers)
        if model.size > most * 1_000_000:
            raise ModelError(f"it has {model.size / 1e6:.0f} MB, fleet.max_megabytes allows {most}")
        self._enter("fetching", f"signed by {signer}")

    async def _fetch(self, model: SignedModel) -> None:
        if not self._board.has(model):
            path = self._board.unfinished()
            await self._fetch_model(model, path)
            self._board.keep(model, path)
        self._enter("trial")

    def _try(self, rollout: Rollout) -> None:
        """Start the trial once there are predictions to compare with later; judge it when it has ended."""
        if self._trial is None:
            self._start_trial(rollout.model)
        elif self._trial.done():
            code, output, errors = self._trial.result()
            self._trial = None
            self._judge(rollout, code, output, errors)

    def _start_trial(self, model: SignedModel) -> None:
        last, settings = self._answers.last, self._around.settings
        if last and last.sha256 == model.sha256:
            self._enter("promoted", "it answered here already")
            return
        usual = self._answers.figures(last.sha256) if last else None
        if not last or not usual or usual.frames < USUAL:
            self._say("waits for predictions of the daemon")
            return
        self.progress = self.progress.model_copy(update={"usual": usual})
        self._say("tried beside the model that answers")
        limits = ("--frames", str(settings.frames), "--duration", f"{settings.trial_s:g}", "--json")
        path = str(self._board.path_of(model))
        self._trial = asyncio.ensure_future(
            self._around.edged("fleet", "trial", self._around.config, path, *limits)
        )

    def _judge(self, rollout: Rollout, code: int, output: str, errors: str) -> None:
        """Hold the figures of the trial against the gate. Raises ModelError if the model must not answer here."""
        lines = errors.strip().splitlines() or [f"the trial ended with exit code {code}"]
        if code in {ModelError.exit_code, DeviceError.exit_code}:
            raise ModelError(lines[-1].removeprefix("edged: "))
        if code:
            raise EdgedError(lines[-1].removeprefix("edged: "))
        try:
            found = Comparison.model_validate(json.loads(output))
        except (ValueError, ValidationError):
            raise EdgedError("the trial printed no figures") from None
        self.progress = self.progress.model_copy(update={"trial": found})
        if failed := failures(parse_gate(rollout.gate), found):
            raise ModelError(f"the gate fails in shadow: {'; '.join(map(str, failed))}")
        self._enter("ready")

    # ── the model answers ──

    def _promote(self, order: Rollout, *, is_paused: bool) -> None:
        """Keep which model answered before, on disk, before the link is replaced."""
        if is_paused:
            self._say("paused; the trial has passed the gate")
            return
        if not self._board.has(order.model):
            self._enter("fetching", "its file is no longer here as it was signed")
            return
        self._enter("promoting", before=self._board.target)

    async def _see_it_answer(self) -> None:
        model, last = self._model, self._answers.last
        try:
            await self._answer_by(str(self._board.path_of(model)))
        except EdgedError as error:
            if time.monotonic() - self._began_s <= ANSWERS_S:
                raise
            self._enter("rolling_back", f"it could not be promoted within {ANSWERS_S:g} s: {error}")
            return
        if last and last.sha256 == model.sha256:
            self._not_finite = self._answers.not_finite
            self._enter("watching", first_seq=self._answers.since_seq)
        elif time.monotonic() - self._began_s > ANSWERS_S:
            self._enter("rolling_back", f"it gave no prediction within {ANSWERS_S:g} s after its promotion")

    def _watch(self, rollout: Rollout) -> None:
        """Hold the daemon's predictions of the second half of `watch_s` against the gate.

        In the first half a new worker may still compile, which costs time and energy once. A silent daemon is
        waited for: its board may have just started.
        """
        model, usual, watch_s = self._model, self.progress.usual, self._around.settings.watch_s
        assert usual  # noqa: S101 (since the trial)
        watched_s = time.monotonic() - self._began_s
        not_finite = max(0, self._answers.not_finite - self._not_finite)
        after = self._answers.figures(model.sha256, since_s=self._began_s + watch_s / 2, not_finite=not_finite)
        found = Comparison(before=usual, after=after)
        self.progress = self.progress.model_copy(update={"in_use": found})
        conditions = measured_in_use(parse_gate(rollout.gate))
        is_over = watched_s >= (watch_s if after.frames else max(watch_s, ANSWERS_S))
        judged = conditions if is_over else tuple(each for each in conditions if each.metric == "not_finite")
        if failed := failures(judged, found):
            self._enter("rolling_back", f"the gate fails in use: {'; '.join(map(str, failed))}")
        elif is_over and not after.frames:
            self._enter("rolling_back", "it has given no predictions since it answers")
        elif is_over:
            first = self.progress.first_seq
            self._enter("promoted", "" if first is None else f"answers from prediction {first} on")
            self._board.forget_others(model.sha256, self.progress.before)

    async def _see_it_gone(self) -> None:
        last, before = self._answers.last, self.progress.before
        if before is not None:
            try:
                await self._answer_by(before)
            except EdgedError:
                if last is None or last.sha256 == self._model.sha256 or self._board.target != before:
                    raise
        if last is None or last.sha256 != self._model.sha256:
            self._enter("rolled_back", self.progress.message, first_seq=self._answers.since_seq)

    async def _answer_by(self, target: str) -> None:
        """Replace the link and reload the daemon, once in this process. Raises EdgedError."""
        if self._applied == target:
            return
        self._board.link_to(target)
        code, _, errors = await self._around.edged("reload", self._around.config)
        if code:
            raise EdgedError(errors.strip().removeprefix("edged: "))
        self._applied = target

    # ── small parts ──

    @property
    def _model(self) -> SignedModel:
        assert self.progress.model  # noqa: S101 (of every phase but idle)
        return self.progress.model

    def _enter(self, phase: Phase, message: str = "", **figures: object) -> None:
        """Begin a phase, once it is on disk."""
        self.progress = self.progress.model_copy(update={"phase": phase, "message": message, **figures})
        self._board.save(self.progress)
        self._began_s = time.monotonic()
        log.info("%s, %s%s", self._model, phase.replace("_", " "), f": {message}" if message else "")

    def _say(self, message: str) -> None:
        self.progress = self.progress.model_copy(update={"message": message})
