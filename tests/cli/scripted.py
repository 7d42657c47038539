"""The hub's doors with workers behind them that answer at once, in turn, each by a function of its own."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence

from edged.hub.frames.queues import Pixels
from edged.hub.links.peers import Links
from edged.hub.links.received import Received, Role
from edged.messages import PROTOCOL, LinkMessage, ModelInfo, WorkerHello

Says = tuple[LinkMessage, Sequence[memoryview]]
MODEL = ModelInfo(name="m", sha256="0" * 64, labels=("a",), width=4, height=3)


def hello_of(
    worker: str, credit: int = 2, model: ModelInfo = MODEL, protocol: str | int = PROTOCOL
) -> WorkerHello:
    return WorkerHello(
        worker=worker,
        protocol=protocol,
        device="NumPy",
        precision="fp32",
        batch=1,
        credit=credit,
        model=model,
        energy="none",
    )


class ScriptedLinks(Links):
    """`answers`: what each worker says to what it is sent; `heard`: that, in order."""

    def __init__(self, answers: Mapping[str, Callable[[LinkMessage, Sequence[Pixels]], list[Says]]]) -> None:
        self.heard: list[tuple[str, LinkMessage, Sequence[Pixels]]] = []
        self.says: deque[tuple[str, LinkMessage, Sequence[memoryview]]] = deque()
        self._answers = answers

    def send(self, peer: str, message: LinkMessage, payloads: Sequence[Pixels] = ()) -> bool:
        name = peer.removeprefix("worker/")
        if name not in self._answers:
            return False
        self.heard.append((name, message, payloads))
        self.says.extend((name, *answer) for answer in self._answers[name](message, payloads))
        return True

    def receive(self) -> Received | None:
        if not self.says:
            return None
        name, message, payloads = self.says.popleft()
        return Received(f"worker/{name}", Role.WORKER, name, message, payloads, memoryview(b""))

    def wait(self, within_ms: int) -> bool:
        return bool(self.says)
