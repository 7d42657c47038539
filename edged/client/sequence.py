"""Which predictions of a node have been handed out, and which are missing."""


class Sequence:
    """The numbers of one node, which grow by one with each prediction, over restarts too.

    `last`: handed out, or lost for good, up to here; None before the first message.
    """

    def __init__(self) -> None:
        self.last: int | None = None
        self._boot: str | None = None

    def heard(self, boot: str, newest: int) -> None:
        """The node has said that `newest` is its last, or that it is about to come.

        A new start of a node that counts from less has lost its journal: all of the new one is wanted.
        """
        if boot != self._boot and self._boot is not None and self.last is not None and newest < self.last:
            self.last = -1
        self._boot = boot

    def missing(self, seq: int) -> tuple[int, int] | None:
        """First and last number up to `seq` that have not been handed out."""
        return None if self.last is None or seq <= self.last else (self.last + 1, seq)

    def is_new(self, seq: int) -> bool:
        """Whether `seq` has not been handed out."""
        return self.last is None or seq > self.last
