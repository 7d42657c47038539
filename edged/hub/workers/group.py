"""Seats of workers that serve together."""

from collections.abc import Sequence

from edged.hub.workers.remote_seat import RemoteSeat
from edged.hub.workers.seat import Seat

AnySeat = Seat | RemoteSeat


class Group:
    """One or more parts of the network, one behind the other; those that sit at the same part share its work."""

    def __init__(self, parts: Sequence[Sequence[AnySeat]]) -> None:
        self._parts = parts

    @property
    def seats(self) -> list[AnySeat]:
        """All, in the order of the config."""
        return [seat for part in self._parts for seat in part]

    @property
    def works(self) -> bool:
        """Whether each part has a worker that is ready."""
        return all(any(seat.ready for seat in part) for part in self._parts)

    @property
    def is_split(self) -> bool:
        """Whether it has several parts."""
        return len(self._parts) > 1

    @property
    def could_work(self) -> bool:
        """Whether its parts would, if those were started that have made way for another group."""
        return self.is_split and all(any(seat.ready or seat.rests for seat in part) for part in self._parts)

    def wake(self) -> None:
        """Start those that rest."""
        for seat in self.seats:
            if seat.rests:
                seat.start()

    def beside(self, seat: AnySeat) -> list[AnySeat]:
        """The others at its part."""
        return [other for part in self._parts if seat in part for other in part if other is not seat]

    def beyond(self, seat: AnySeat) -> list[AnySeat]:
        """Those at the other parts."""
        return [other for part in self._parts if seat not in part for other in part]
