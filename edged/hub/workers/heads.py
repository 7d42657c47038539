"""Which head answers, and which heads each worker has loaded.

A job names its head, so an answer is known to be of that one, whatever has changed meanwhile. The hub passes
weights on unread.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from edged.errors import ModelError
from edged.hub.events import HubEvent
from edged.hub.links.peers import Links
from edged.messages import HeadLoaded, LoadHead, ModelInfo, WorkerHello
from edged.metrics import Metrics
from edged.model.head_versions import Version, load_head, load_promoted, load_version


@dataclass(frozen=True, eq=False)
class TaughtHead:
    """`head`: as `edged.model.head` writes it."""

    version: Version
    head: bytes

    @property
    def sha256(self) -> str:
        """Its name."""
        return self.version.sha256

    def message(self) -> LoadHead:
        """What a worker is told, beside the weights."""
        version = self.version
        return LoadHead(
            version=version.sha256,
            base=version.base.sha256,
            features=version.features,
            hidden=version.hidden,
            classes=len(version.labels),
        )

    def model(self, base: ModelInfo) -> ModelInfo:
        """What predictions say of who has answered."""
        version = self.version
        return base.model_copy(update={"name": version.name, "sha256": version.sha256, "labels": version.labels})

    def misfit(self, base: ModelInfo) -> str:
        """Why it cannot answer on top of this model; empty where it can."""
        if self.version.base.sha256 == base.sha256:
            return ""
        return (
            f"version {self.sha256[:12]} was taught to {self.version.base.name} "
            f"({self.version.base.sha256[:12]}), the config's model is {base.name} ({base.sha256[:12]})"
        )


def load_lesson(folder: Path, version: str) -> TaughtHead:
    """Raises ModelError for one that is absent or damaged."""
    found = load_version(folder, version)
    return TaughtHead(found, load_head(folder, found))


REMEMBERED = 64  # heads, the newest ones: no job bears the name of another any more


def gives_scores(hello: WorkerHello) -> bool:
    """Whether its part of the network is the last one: heads are for those."""
    return hello.part is None or hello.part.end is None


class Heads:
    """`answers`: the version that does; None: the config's model itself.

    `base` is that model, once a worker has said which it is.
    """

    def __init__(self, links: Links, metrics: Metrics, folder: Path) -> None:
        """`folder`: where versions lie, and which of them was promoted."""
        self.folder = folder
        self.base: ModelInfo | None = None
        self.answers: TaughtHead | None = None
        self.active_name = ""  # of `answers`, as jobs name it
        self._links = links
        self._metrics = metrics
        self._known: dict[str, TaughtHead] = {}
        self._hellos: dict[tuple[str, str], WorkerHello] = {}
        self._taken: dict[str, set[str]] = {}
        self._refused: dict[tuple[str, str], str] = {}

    def begin(self, base: ModelInfo) -> list[HubEvent]:
        """The first worker tells what the config's model is: what was promoted to answer in its place does so."""
        self.base = base
        notices = []
        try:
            self._activate(self._promoted(base))
        except ModelError as error:
            notices.append(HubEvent("model_refused", f"{error}; the config's model answers"))
        self._tell_metrics()
        return notices

    def _promoted(self, base: ModelInfo) -> TaughtHead | None:
        promoted = load_promoted(self.folder).version
        lesson = load_lesson(self.folder, promoted) if promoted else None
        if lesson and (problem := lesson.misfit(base)):
            raise ModelError(f"{problem}: train it again, or roll back (`edged teach rollback CONFIG`)")
        return lesson

    def change(self, lesson: TaughtHead | None) -> None:
        """Let this head answer from the next job on."""
        self._activate(lesson)
        self._tell_metrics()

    def _activate(self, lesson: TaughtHead | None) -> None:
        self.answers, self.active_name = lesson, lesson.sha256 if lesson else ""

    def offer(self, worker: str, lesson: TaughtHead) -> None:
        """A worker is to be ready to answer by it; it will say whether it is."""
        self._known.pop(lesson.sha256, None)
        self._known[lesson.sha256] = lesson
        if len(self._known) > REMEMBERED:
            del self._known[next(iter(self._known))]
        self._refused.pop((worker, lesson.sha256), None)
        self._links.send(f"worker/{worker}", lesson.message(), [lesson.head])

    def heard(self, worker: str, told: HeadLoaded) -> None:
        """What it says."""
        if told.refused:
            self._refused[worker, told.version] = told.refused
        else:
            self._taken.setdefault(worker, set()).add(told.version)

    def left(self, worker: str) -> None:
        """It is gone, with what it has taken."""
        self._taken.pop(worker, None)
        self._refused = {key: why for key, why in self._refused.items() if key[0] != worker}
        self._hellos = {key: hello for key, hello in self._hellos.items() if key[0] != worker}

    def has(self, worker: str, lesson: TaughtHead) -> bool:
        """Whether it is ready to answer by it."""
        return lesson.sha256 in self._taken.get(worker, ())

    def refusal(self, workers: Iterable[str], lesson: TaughtHead) -> str:
        """Why one of them will not; empty where none has said so."""
        refused = {worker: self._refused.get((worker, lesson.sha256)) for worker in workers}
        return next((f"worker {worker} refuses it: {why}" for worker, why in refused.items() if why), "")

    def hello_by(self, hello: WorkerHello, head: str) -> WorkerHello:
        """What is known of a worker that has answered by this head."""
        if not head:
            return hello
        key = hello.worker, head
        if key not in self._hellos:
            self._hellos[key] = hello.model_copy(update={"model": self._known[head].model(hello.model)})
        return self._hellos[key]

    def _tell_metrics(self) -> None:
        if self.base:
            model = self.answers.model(self.base) if self.answers else self.base
            self._metrics.model_info.clear()
            self._metrics.model_info.labels(model.name, model.sha256, self.base.sha256).set(1)
