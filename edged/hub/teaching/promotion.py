"""Change the head version that answers while the daemon runs: `edged teach --promote` and `--rollback`.

In this order: read it, load it into every worker, store on disk that it is to answer, and change at one job. A
failure before the last step changes nothing; a hub that is killed at any point starts with one or the other.
Steps that take several turns of the loop are generators, resumed at each turn.
"""

import logging
from collections.abc import Callable, Generator
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from threading import Thread
from typing import TypeVar

from edged.clock import nanoseconds, now_ns, seconds_since
from edged.errors import EdgedError, ModelError
from edged.hub.events import HubEvent
from edged.hub.node import Node
from edged.hub.pipeline import Publication
from edged.hub.workers.heads import Heads, TaughtHead, gives_scores, load_taught_head
from edged.hub.workers.workers import Workers
from edged.messages import PromoteAnswer, PromoteRequest, WorkerHello
from edged.model.head_versions import PromotedRecord, load_promoted, save_promoted

PREPARED_S = 10.0
LOOKED_AT_S = 0.002

log = logging.getLogger("edged.hub")

T = TypeVar("T")
Steps = Generator[None, None, T]


def soon_ns() -> int:
    """Return when to check again even if nothing arrives."""
    return now_ns() + nanoseconds(LOOKED_AT_S)


def elsewhere(work: Callable[[], T]) -> Steps[T]:
    """Run `work` in a thread, as a disk may be slow; return its result.

    Raises the EdgedError or OSError of `work`, and ModelError for anything else, or if the system gives no thread:
    a request of one program never ends the hub.
    """
    outcome: Future[T] = Future()

    def run() -> None:
        try:
            outcome.set_result(work())
        except (EdgedError, OSError) as error:
            outcome.set_exception(error)
        except BaseException as error:
            log.exception("a version cannot be read or kept")
            outcome.set_exception(ModelError(f"this cannot be done now: {type(error).__name__}: {error}"))

    try:
        Thread(target=run, name="taught", daemon=True).start()
    except RuntimeError as error:
        raise ModelError(f"this cannot be done now: {error}") from None
    while not outcome.done():
        yield
    return outcome.result()


def prepare(heads: Heads, workers: Workers, taught: TaughtHead) -> Steps[None]:
    """Wait until every worker that gives scores has loaded it, new ones included. Raises ModelError."""
    begun_ns, offered = now_ns(), list[WorkerHello]()
    if heads.base is None:
        raise ModelError("no worker is ready yet: wait for one")
    if problem := taught.misfit(heads.base):
        raise ModelError(problem)
    while True:
        hellos = {name: hello for name, hello in workers.hellos.items() if gives_scores(hello)}
        for name, hello in hellos.items():
            if not any(hello is each for each in offered) and not heads.has(name, taught):
                offered.append(hello)
                heads.offer(name, taught)
        if refused := heads.refusal(hellos, taught):
            raise ModelError(refused)
        missing = [name for name in hellos if not heads.has(name, taught)]
        if hellos and not missing:
            return
        if seconds_since(begun_ns) > PREPARED_S:
            who = f"worker {missing[0]} has not loaded it" if missing else "no worker is ready"
            raise ModelError(f"{who} within {PREPARED_S:g} s")
        yield


ANSWERED_S = 2.0  # without frames there is no first prediction to report


@dataclass(frozen=True, slots=True)
class Wanted:
    """A change: the records on disk before and after it, and the head that answers (None: the model)."""

    before: PromotedRecord
    record: PromotedRecord
    taught: TaughtHead | None


class Versions:
    """Changes the version that answers, one change at a time."""

    def __init__(self, node: Node, publication: Publication) -> None:
        self._node = node
        self._publication = publication
        self._client = ""
        self._steps: Steps[PromoteAnswer] | None = None
        self._is_back = False

    @property
    def is_active(self) -> bool:
        """Return whether a change is under way."""
        return self._steps is not None

    def start(self, client: str, request: PromoteRequest) -> None:
        """Begin a change for `client`, or refuse it with the reason."""
        if self._steps:
            busy = f"{self._client.replace('/', ' ')} changes the version just now: try again"
            self._node.links.send(client, PromoteAnswer(accepted=False, message=busy))
            return
        self._client, self._is_back = client, request.roll_back
        self._steps = self._change(request)

    def step(self) -> list[HubEvent]:
        """Continue a change at each turn of the loop; return what has happened."""
        if self._steps is None:
            return []
        try:
            next(self._steps)
        except StopIteration as done:
            return [self._over(done.value)]
        except (EdgedError, OSError) as error:
            return [self._over(PromoteAnswer(accepted=False, message=f"{error}; nothing has changed"))]
        return []

    def next_ns(self) -> int | None:
        """Return when `step` must be called even if nothing arrives."""
        return soon_ns() if self._steps else None

    def _over(self, outcome: PromoteAnswer) -> HubEvent:
        self._steps = None
        self._node.router.jobs.scores_wait = False
        self._node.links.send(self._client, outcome)
        if not outcome.accepted:
            return HubEvent("model_refused", outcome.message)
        return HubEvent("model_rolled_back" if self._is_back else "model_promoted", outcome.message)

    def _change(self, request: PromoteRequest) -> Steps[PromoteAnswer]:
        begun_ns = now_ns()
        wanted = yield from elsewhere(partial(self._read, request, self._node.heads.answers))
        if wanted.taught:
            yield from prepare(self._node.heads, self._node.workers, wanted.taught)
        yield from self._keep(wanted.record)
        paused_ns = now_ns()
        self._node.router.jobs.scores_wait = len(self._node.router.jobs.who_scores()) > 1
        while self._node.router.jobs.scores_wait and self._node.router.jobs.awaits_scores():
            # with several workers, a slow one could answer with the old version after a fast one
            # answered with the new
            yield
        if wanted.taught:
            yield from self._prepare_again(wanted.taught, wanted.before)
        self._node.heads.change(wanted.taught)
        self._node.router.jobs.scores_wait = False
        paused_s = seconds_since(paused_ns)
        first_seq = yield from self._first_answer(wanted.taught)
        return self._answer(wanted.taught, first_seq, seconds_since(begun_ns), paused_s)

    def _read(self, request: PromoteRequest, answers: TaughtHead | None) -> Wanted:
        """Read the version in a thread. Raises ModelError."""
        folder = self._node.heads.folder
        try:
            before = load_promoted(folder)
        except ModelError:  # reported at the start
            before = PromotedRecord()
        record = before.model_copy(update={"version": answers.sha256 if answers else None})
        if request.roll_back:
            record = record.roll_back()
        elif request.version is None:
            raise ModelError("no version was named")
        elif request.version != record.version:
            record = record.promote(request.version)
        return Wanted(before, record, load_taught_head(folder, record.version) if record.version else None)

    def _keep(self, record: PromotedRecord) -> Steps[None]:
        yield from elsewhere(partial(save_promoted, self._node.heads.folder, record))

    def _prepare_again(self, taught: TaughtHead, before: PromotedRecord) -> Steps[None]:
        """Load it into workers that joined meanwhile: usually none, and then this takes no turn of the loop."""
        try:
            yield from prepare(self._node.heads, self._node.workers, taught)
        except ModelError:
            yield from self._keep(before)
            raise

    def _first_answer(self, taught: TaughtHead | None) -> Steps[int]:
        """Return the sequence number of its first prediction, or of the next one if no frame comes."""
        publication, base = self._publication, self._node.heads.base
        sha256, since_ns = taught.sha256 if taught else base.sha256 if base else "", now_ns()
        while publication.answered_by != sha256 and seconds_since(since_ns) < ANSWERED_S:
            yield
        return publication.answers_since if publication.answered_by == sha256 else publication.next_seq

    def _answer(self, taught: TaughtHead | None, first_seq: int, took_s: float, paused_s: float) -> PromoteAnswer:
        who = f"version {taught.version}" if taught else "the config's model"
        return PromoteAnswer(
            accepted=True,
            message=f"{who} answers from prediction {first_seq} on",
            version=taught.sha256 if taught else "",
            first_seq=first_seq,
            took_s=took_s,
            paused_s=paused_s,
        )
