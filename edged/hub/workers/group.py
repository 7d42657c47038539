"""A group of workers that serve together: the parts of the network in sequence, each with one or more workers."""

from collections.abc import Sequence

from edged.hub.children.child import Child
from edged.hub.workers.remote_slot import RemoteWorkerSlot
from edged.hub.workers.slot import WorkerSlot

AnyWorkerSlot = WorkerSlot | RemoteWorkerSlot


class Group:
    """One or more parts of the network in sequence; the slots of one part share its jobs."""

    def __init__(self, parts: Sequence[Sequence[AnyWorkerSlot]]) -> None:
        self._parts = parts

    @property
    def slots(self) -> list[AnyWorkerSlot]:
        """Return all slots, in the order of the config."""
        return [slot for part in self._parts for slot in part]

    @property
    def works(self) -> bool:
        """Return whether each part has a worker that is ready."""
        return all(any(slot.ready for slot in part) for part in self._parts)

    @property
    def is_split(self) -> bool:
        """Return whether it has several parts."""
        return len(self._parts) > 1

    @property
    def could_work(self) -> bool:
        """Return whether its parts would work if the slots that yielded to another group were started."""
        return self.is_split and all(any(slot.ready or slot.rests for slot in part) for part in self._parts)

    @property
    def children(self) -> list[Child]:
        """Return the processes of all slots on this host."""
        return [child for slot in self.slots for child in slot.children]

    @property
    def can_stand_in(self) -> bool:
        """Return whether it can answer before an earlier group has compiled its kernels."""
        return not any(slot.compiles for slot in self.slots)

    @property
    def overdue_ns(self) -> int | None:
        """Return from when on one of its workers may be compiling; None if none is starting."""
        return min((slot.overdue_ns for slot in self.slots if slot.overdue_ns is not None), default=None)

    def wake(self) -> None:
        """Start the slots that rest."""
        for slot in self.slots:
            if slot.rests:
                slot.start()

    def peers_of(self, slot: AnyWorkerSlot) -> list[AnyWorkerSlot]:
        """Return the other slots of the same part."""
        return [other for part in self._parts if slot in part for other in part if other is not slot]

    def slots_of_other_parts(self, slot: AnyWorkerSlot) -> list[AnyWorkerSlot]:
        """Return the slots of the other parts."""
        return [other for part in self._parts if slot not in part for other in part]
