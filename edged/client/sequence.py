"""Which predictions of a node have been handed out, and which are missing."""


class Sequence:
    """The numbers of one node, which grow by one with each prediction, over restarts too.

    `last`: handed out, or lost for good, up to here; None before the first message.
    """

    def __init__(self) -> None:
        self.last: int | None = None
        self._boot: str | None = None

    def knows(self, boot: str) -> bool:
        """Whether the numbers of this start are understood: those of the first one heard, or begun."""
        self._boot = self._boot or boot
        return boot == self._boot

    def begin(self, boot: str, first_seq: int) -> bool:
        """The node says that this start of it counts from `first_seq`.

        True where that is a number that was there before: the node has lost (the end of) its journal.
        """
        rewound = not self.knows(boot) and self.last is not None and self.last >= first_seq
        if rewound:
            self.last = first_seq - 1
        self._boot = boot
        return rewound

    def missing(self, seq: int) -> tuple[int, int] | None:
        """First and last number up to `seq` that have not been handed out."""
        return None if self.last is None or seq <= self.last else (self.last + 1, seq)

    def is_next(self, seq: int) -> bool:
        """Whether `seq` is the one to be handed out now."""
        return self.last is None or seq == self.last + 1

    def is_new(self, seq: int) -> bool:
        """Whether `seq` has not been handed out."""
        return self.last is None or seq > self.last
