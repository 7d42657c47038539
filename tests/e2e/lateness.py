"""How long this machine keeps a process waiting that wants to run: a slack that is measured, not guessed."""

import threading
import time

NAP_S = 0.002


class Lateness(threading.Thread):
    """Naps again and again, and notes by how much each ended too late."""

    def __init__(self) -> None:
        super().__init__(name="lateness", daemon=True)
        self._end = threading.Event()
        self._late_s: list[float] = []

    def run(self) -> None:
        while not self._end.is_set():
            start = time.monotonic()
            time.sleep(NAP_S)
            self._late_s.append(time.monotonic() - start - NAP_S)

    def stop(self, share: float = 1.0) -> float:
        """Seconds by which that share of the naps was late at most."""
        self._end.set()
        self.join()
        late_s = sorted(self._late_s) or [0.0]
        return late_s[int(share * (len(late_s) - 1))]

    @property
    def longest_s(self) -> float:
        """Seconds by which the latest nap so far was late."""
        return max(self._late_s, default=0.0)
