"""Track which head answers, and which heads each worker has loaded.

A job names its head, so an answer belongs to that head, whatever has changed meanwhile. The hub passes weights on
unread.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from edged.errors import ModelError, NewerStateError
from edged.hub.events import HubEvent
from edged.hub.links.peers import Links
from edged.messages import HeadLoaded, LoadHead, ModelInfo, WorkerHello
from edged.metrics import Metrics
from edged.model.head_versions import Version, load_head, load_promoted, load_version


@dataclass(frozen=True, eq=False)
class TaughtHead:
    """The head of a version. `head`: as `edged.model.head` writes it."""

    version: Version
    head: bytes

    @property
    def sha256(self) -> str:
        """Return the hash that names it."""
        return self.version.sha256

    def message(self) -> LoadHead:
        """Return the message that carries the weights to a worker."""
        version = self.version
        return LoadHead(
            version=version.sha256,
            base=version.base.sha256,
            features=version.features,
            hidden=version.hidden,
            classes=len(version.labels),
        )

    def model(self, base: ModelInfo) -> ModelInfo:
        """Return the model that predictions name."""
        version = self.version
        return msgspec.structs.replace(
            base,
            name=version.name,
            sha256=version.sha256,
            labels=version.labels,
            scores="probabilities",  # a head ends in a softmax
            scoring="",
        )

    def misfit(self, base: ModelInfo) -> str:
        """Return why it cannot answer on top of this model; empty if it can."""
        if self.version.base.sha256 == base.sha256:
            return ""
        return (
            f"version {self.sha256[:12]} was taught to {self.version.base.name} "
            f"({self.version.base.sha256[:12]}), the config's model is {base.name} ({base.sha256[:12]})"
        )


def load_taught_head(folder: Path, version: str) -> TaughtHead:
    """Load a version. Raises ModelError for one that is absent or damaged."""
    found = load_version(folder, version)
    return TaughtHead(found, load_head(folder, found))


REMEMBERED = 64  # newest heads; no job names an older one


def gives_scores(hello: WorkerHello) -> bool:
    """Return whether its part of the network is the last one, which alone has a head."""
    return hello.part is None or hello.part.end is None


class Heads:
    """`answers`: the version that answers; None: the config's model itself.

    `base` is that model, once a worker has reported it.
    """

    def __init__(self, links: Links, metrics: Metrics, folder: Path) -> None:
        """`folder`: of the versions, and of the record which one was promoted."""
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
        """Begin with the model that the first worker names, or with the version promoted in its place."""
        self.base = base
        notices = []
        self._activate(None)
        try:
            self._activate(self._promoted(base))
        except (ModelError, NewerStateError) as error:
            notices.append(HubEvent("model_refused", f"{error}; the config's model answers"))
        self._show_in_metrics()
        return notices

    def _promoted(self, base: ModelInfo) -> TaughtHead | None:
        promoted = load_promoted(self.folder).version
        taught = load_taught_head(self.folder, promoted) if promoted else None
        if taught and (problem := taught.misfit(base)):
            raise ModelError(f"{problem}: train it again, or roll back (`edged teach rollback CONFIG`)")
        return taught

    def change(self, taught: TaughtHead | None) -> None:
        """Activate this head: it answers from the next job on."""
        self._activate(taught)
        self._show_in_metrics()

    def _activate(self, taught: TaughtHead | None) -> None:
        self.answers, self.active_name = taught, taught.sha256 if taught else ""

    def offer(self, worker: str, taught: TaughtHead) -> None:
        """Send a head to a worker, which answers whether it has loaded it."""
        self._known.pop(taught.sha256, None)
        self._known[taught.sha256] = taught
        if len(self._known) > REMEMBERED:
            del self._known[next(iter(self._known))]
        self._refused.pop((worker, taught.sha256), None)
        self._links.send(f"worker/{worker}", taught.message(), [taught.head])

    def record_answer(self, worker: str, answer: HeadLoaded) -> None:
        """Record whether a worker has loaded a head."""
        if answer.refused:
            self._refused[worker, answer.version] = answer.refused
        else:
            self._taken.setdefault(worker, set()).add(answer.version)

    def left(self, worker: str) -> None:
        """Forget a worker that has left, with its loaded heads."""
        self._taken.pop(worker, None)
        self._refused = {key: why for key, why in self._refused.items() if key[0] != worker}
        self._hellos = {key: hello for key, hello in self._hellos.items() if key[0] != worker}

    def has(self, worker: str, taught: TaughtHead) -> bool:
        """Return whether a worker has loaded a head."""
        return taught.sha256 in self._taken.get(worker, ())

    def refusal(self, workers: Iterable[str], taught: TaughtHead) -> str:
        """Return why one of these workers has refused a head; empty if none has."""
        refused = {worker: self._refused.get((worker, taught.sha256)) for worker in workers}
        return next((f"worker {worker} refuses it: {why}" for worker, why in refused.items() if why), "")

    def hello_by(self, hello: WorkerHello, head: str) -> WorkerHello:
        """Return the hello of a worker, with the model of the head by which it has answered."""
        if not head:
            return hello
        key = hello.worker, head
        if key not in self._hellos:
            self._hellos[key] = msgspec.structs.replace(hello, model=self._known[head].model(hello.model))
        return self._hellos[key]

    def _show_in_metrics(self) -> None:
        if self.base:
            model = self.answers.model(self.base) if self.answers else self.base
            self._metrics.model_info.clear()
            self._metrics.model_info.labels(model.name, model.sha256, self.base.sha256).set(1)
