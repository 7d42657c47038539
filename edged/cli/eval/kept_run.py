"""Evaluate what an interrupted run has not reached, keep the answers meanwhile, and show the progress."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from edged.evaluation.kept_answers import KeptAnswers
from edged.system.plain_text import counted
from edged.system.terminal import Progress, note

Picture = TypeVar("Picture")
PictureIn_contra = TypeVar("PictureIn_contra", contravariant=True)
Answer = TypeVar("Answer")
AnswerOut_co = TypeVar("AnswerOut_co", covariant=True)


class Evaluator(Protocol[PictureIn_contra, AnswerOut_co]):
    """Who evaluates pictures: a device of this host, a cluster, onnxruntime. `device`: known with the answers."""

    @property
    def device(self) -> str: ...
    @property
    def key(self) -> list[object]: ...
    def answers(self, pictures: Sequence[PictureIn_contra]) -> Iterator[Sequence[AnswerOut_co]]: ...


@dataclass(frozen=True, eq=False)
class Answered(Generic[Answer]):
    """The answers in the order of the pictures, and the speed of this run in pictures a second."""

    answers: Sequence[Answer]
    rate: float


def answered(
    evaluation: Evaluator[Picture, Answer],
    pictures: Sequence[Picture],
    kept: KeptAnswers[Answer],
    remark: Callable[[Sequence[Answer]], str],
) -> Answered[Answer]:
    """Evaluate the pictures that have no kept answer. `remark`: of the answers so far, for people.

    Raises EdgedError, and KeyboardInterrupt after a note about how to resume.
    """
    answers = kept.known[: len(pictures)]
    if answers:
        done = f"the first {len(answers)} of {counted(len(pictures), 'picture')}"
        note(f"resuming after {done} (--restart starts over)")
    start, progress = time.perf_counter(), Progress(len(answers), len(pictures))
    try:
        for more in evaluation.answers(pictures[len(answers) :]):
            kept.append(more)
            answers += more
            progress.show(len(answers), remark(answers))
    except KeyboardInterrupt:
        done = f"{len(answers)} of {counted(len(pictures), 'picture')}"
        note(f"stopped after {done}; the same command resumes there")
        raise
    else:
        kept.remove()
    finally:
        progress.clear()
        kept.close()
    return Answered(answers, progress.rate(len(answers), time.perf_counter() - start))
