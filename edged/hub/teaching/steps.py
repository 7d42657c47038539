"""Work of the hub that takes several turns of its loop: a generator, resumed at each of them."""

from collections.abc import Callable, Generator
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

from edged.clock import nanoseconds, now_ns, seconds_since
from edged.errors import ModelError
from edged.hub.parts import Parts
from edged.hub.teaching.heads import gives_scores
from edged.hub.teaching.lesson import Lesson
from edged.messages import WorkerHello

PREPARED_S = 10.0
LOOKED_AT_S = 0.002

T = TypeVar("T")
Steps = Generator[None, None, T]


def soon_ns() -> int:
    """When to look again though nothing comes."""
    return now_ns() + nanoseconds(LOOKED_AT_S)


def elsewhere(work: Callable[[], T]) -> Steps[T]:
    """What comes of `work` in a thread: a disk may take its time, the hub's loop must not.

    Raises what `work` does, and ModelError where the system gives no thread.
    """
    outcome: Future[T] = Future()

    def run() -> None:
        try:
            outcome.set_result(work())
        except BaseException as error:
            outcome.set_exception(error)

    try:
        Thread(target=run, name="taught", daemon=True).start()
    except RuntimeError as error:
        raise ModelError(f"this cannot be done now: {error}") from None
    while not outcome.done():
        yield
    return outcome.result()


def prepare(parts: Parts, lesson: Lesson) -> Steps[None]:
    """Until every worker that gives scores has taken it, also one that joins meanwhile. Raises ModelError."""
    heads, begun_ns, offered = parts.heads, now_ns(), list[WorkerHello]()
    if heads.base is None:
        raise ModelError("no worker is ready yet: wait for one")
    if problem := lesson.misfit(heads.base):
        raise ModelError(problem)
    while True:
        hellos = {name: hello for name, hello in parts.workers.hellos.items() if gives_scores(hello)}
        for name, hello in hellos.items():
            if not any(hello is each for each in offered) and not heads.has(name, lesson):
                offered.append(hello)
                heads.offer(name, lesson)
        if refused := heads.refusal(hellos, lesson):
            raise ModelError(refused)
        missing = [name for name in hellos if not heads.has(name, lesson)]
        if hellos and not missing:
            return
        if seconds_since(begun_ns) > PREPARED_S:
            who = f"worker {missing[0]} has not taken it" if missing else "no worker is ready"
            raise ModelError(f"{who} within {PREPARED_S:g} s")
        yield
