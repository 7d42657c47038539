"""Remember refused peers, so that each is reported once: a process that restarts repeatedly reports the same."""

from dataclasses import dataclass, field

from edged.hub.events import HubEvent

LOST = {"camera_lost", "worker_lost"}
UP = {"camera_up", "worker_up"}
REMEMBERED = 1000


@dataclass(frozen=True, slots=True)
class Refusal:
    """A camera or worker, by its name on the link, that cannot be used as it is; `problem`: why."""

    peer: str
    problem: str

    def notice(self) -> HubEvent:
        """Return the text for people."""
        kind, _, name = self.peer.partition("/")
        message = f"{kind} {name} is refused: {self.problem}"
        if kind == "camera":
            return HubEvent("refused", message, camera=name)
        return HubEvent("refused", message, worker=name or None)


@dataclass(eq=False)
class Refusals:
    """Refusals by name on the link.

    An entry is removed once the peer is accepted, or refused for another reason.
    """

    _said: dict[str, str] = field(default_factory=dict)
    _lost: set[str] = field(default_factory=set)  # whose end was reported since then

    def is_news(self, notice: HubEvent) -> bool:
        """Return whether to report it. Call it once for each notice."""
        peer = f"worker/{notice.worker}" if notice.worker else f"camera/{notice.camera}"
        if notice.event in UP:
            self._forget(peer)
        elif notice.event == "refused":
            is_known = self._said.get(peer) == notice.message
            if not is_known:
                self._forget(peer)
                self._said[peer] = notice.message
                if len(self._said) > REMEMBERED:
                    self._forget(next(iter(self._said)))
            return not is_known
        elif notice.event in LOST and peer in self._said:
            is_known = peer in self._lost
            self._lost.add(peer)
            return not is_known
        return True

    def _forget(self, peer: str) -> None:
        self._said.pop(peer, None)
        self._lost.discard(peer)
