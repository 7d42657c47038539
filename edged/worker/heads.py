"""The taught heads of this model, by version: they answer from its features, on the host.

A head is so small compared with the layers before it (tens of thousands of multiplications against many millions)
that NumPy finishes before a device would have begun: no second plan, and nothing to compile at a change.
"""

import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from edged.errors import ModelError
from edged.messages import HeadLoaded, Job, LoadHead
from edged.model.head import Head
from edged.runtime.base import Outputs, Result

MOST = 64  # many more than are offered while no job names them
UNTEACHABLE = "its model does not end in a fully connected layer: it cannot be taught"


@dataclass(frozen=True, eq=False)
class HeadAnswers:
    """Shares [n, classes] by the job's head and by the one in shadow, and the seconds of both."""

    shares: Outputs | None = None
    shadow: Outputs | None = None
    seconds: float = 0.0


NOTHING = HeadAnswers()


class LoadedHeads:
    """The most recently loaded heads of a worker."""

    def __init__(self, base: str, features: int) -> None:
        """`base`: SHA-256 of the model that runs; `features`: values per frame, 0: none."""
        self._base = base
        self._features = features
        self._heads: OrderedDict[str, Head] = OrderedDict()

    def load(self, message: LoadHead, payloads: Sequence[bytes]) -> HeadLoaded:
        """Load a head, and return the answer for the hub."""
        refused = self._incompatibility(message)
        if not refused:
            try:
                head = Head.from_bytes(b"".join(payloads), message.features, message.hidden, message.classes)
            except ModelError as error:
                refused = str(error)
            else:
                self._keep(message.version, head)
        return HeadLoaded(version=message.version, refused=refused)

    def wants_features(self, job: Job) -> bool:
        """Return whether the job needs features. Raises ValueError for a job that cannot be done here."""
        unknown = [name for name in (job.head, job.shadow) if name and name not in self._heads]
        if unknown:
            raise ValueError(f"no head {unknown[0][:12]} is loaded here")
        wanted = job.features or bool(job.head or job.shadow)
        if wanted and not self._features:
            raise ValueError(UNTEACHABLE)
        return wanted

    def answer(self, job: Job, result: Result) -> HeadAnswers:
        """Return the answers of the job's heads for these features."""
        if result.features is None or not (job.head or job.shadow):
            return NOTHING
        start = time.perf_counter()
        shares = self._use(job.head).shares(result.features) if job.head else None
        shadow = self._use(job.shadow).shares(result.features) if job.shadow else None
        return HeadAnswers(shares, shadow, time.perf_counter() - start)

    def _use(self, version: str) -> Head:
        self._heads.move_to_end(version)
        return self._heads[version]

    def _keep(self, version: str, head: Head) -> None:
        self._heads[version] = head
        self._heads.move_to_end(version)
        while len(self._heads) > MOST:
            self._heads.popitem(last=False)

    def _incompatibility(self, message: LoadHead) -> str:
        if message.base != self._base:
            return f"it was taught to the model {message.base[:12]}; {self._base[:12]} runs here"
        if not self._features:
            return UNTEACHABLE
        if message.features != self._features:
            return f"it is for {message.features} features; the model here gives {self._features}"
        return ""
