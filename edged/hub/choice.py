"""Which worker serves: the first of the list that works, and again an earlier one once its device is back."""

from collections.abc import Iterator, Mapping, Sequence

from edged.errors import OUT_OF_MEMORY, DeviceError, DeviceMemoryError, ModelError
from edged.hub.loss import Loss
from edged.hub.notice import Notice
from edged.hub.seat import Seat


class Choice:
    """The seats, in order of preference, with what has become of each."""

    def __init__(self, seats: Sequence[Seat]) -> None:
        self.seats = tuple(seats)
        self._leaving: list[Seat] = []  # no longer in the list, but not yet ended
        self._index = 0
        self._ever_ready = False
        self.seat.start()

    @property
    def seat(self) -> Seat:
        """The one that serves, or should."""
        return self.seats[self._index]

    @property
    def all_seats(self) -> tuple[Seat, ...]:
        """Those of the list, and those that leave."""
        return (*self.seats, *self._leaving)

    def named(self, name: str) -> Seat | None:
        """The seat of the worker with this name."""
        return next((seat for seat in self.all_seats if seat.name == name), None)

    def change(self, seats: Sequence[Seat], devices: Mapping[str, str]) -> None:
        """Another list of seats. `devices`: of those whose worker has other settings now, by name."""
        served = self.seat
        self._leaving = [seat for seat in self.all_seats if seat not in seats and seat.children]
        self.seats = tuple(seats)
        for seat in self._leaving:
            seat.retire()
        if served not in self.seats:
            self._index = 0
        for seat in self.seats:
            if seat.name in devices:
                seat.change(devices[seat.name])
        for seat in self.seats[: self._index + 1]:
            if seat.name in devices or seat is self.seat:
                seat.start()

    def next_due_ns(self) -> int | None:
        """When a process must be started."""
        return min((seat.due_ns for seat in self.all_seats if seat.due_ns is not None), default=None)

    def is_ready(self, name: str) -> list[Notice]:
        """A worker has said hello: it serves where it comes before the one that did."""
        seat = self.named(name)
        if seat is None or seat.retires:
            return []
        seat.says_hello()
        self._ever_ready = True
        index = self.seats.index(seat)
        if index >= self._index:
            return []
        self._index = index
        for later in self.seats[index + 1 :]:
            later.retire()
        return [Notice("device_retried", f"device {seat.device} works again: worker {name} serves", worker=name)]

    def step(self, now: int) -> Iterator[Notice]:
        """What has happened to each. Raises EdgedError where no worker can ever serve."""
        for seat in self.all_seats:
            loss = seat.step(now)
            if loss and loss.cause == "stuck":
                message = f"worker {seat.name} hangs in the kernel, and holds its device until that lets it go"
                yield Notice("worker_stuck", message, worker=seat.name)
            if loss:
                yield self._lost(seat, loss)
        self._leaving = [seat for seat in self._leaving if seat.children]
        for seat in self.seats[: self._index]:
            if seat.due_ns is not None and now >= seat.due_ns:
                seat.start()

    def _lost(self, seat: Seat, loss: Loss) -> Notice:
        what = f"worker {seat.name} {loss}"
        if seat.retires:
            return self._retired(seat)
        index = self.seats.index(seat)
        if loss.code == ModelError.exit_code and not self._ever_ready:
            raise ModelError(f"worker {seat.name} cannot use the model: its message is above")
        if index < self._index:
            what += f"; its device {seat.device} is tried again in {seat.give_up():g} s"
        elif loss.is_final and index + 1 < len(self.seats):
            return self._fall_back(what, loss.cause)
        elif loss.is_final and not self._ever_ready:
            raise self._no_worker(loss)
        else:
            wait_s = seat.start_again()
            what += f"; it starts again {when(wait_s)}"
        return Notice("worker_lost", what, worker=seat.name, reason=loss.cause)

    def _retired(self, seat: Seat) -> Notice:
        seat.rest()
        if seat is self.seat:
            seat.start()
            message = f"worker {seat.name} has ended, and starts again with other settings"
        else:
            message = f"worker {seat.name} has made way for another one"
        return Notice("worker_retired", message, worker=seat.name)

    def _fall_back(self, what: str, cause: str) -> Notice:
        lost = self.seat
        lost.give_up()
        self._index += 1
        self.seat.start()
        message = (
            f"{what}: its device {lost.device} is given up, "
            f"{self.seat.name} (device {self.seat.device}) takes over"
        )
        return Notice("fallback", message, worker=lost.name, reason=cause)

    def _no_worker(self, last: Loss) -> DeviceError:
        devices = ", ".join(seat.device for seat in self.seats)
        kind = DeviceMemoryError if last.code == OUT_OF_MEMORY else DeviceError
        return kind(
            f"no worker can run ({self.seat.name} was the last of workers: [{devices}]): "
            "their messages are above; `edged devices` lists what there is"
        )


def when(wait_s: float) -> str:
    """`at once`, `in 0.5 s`."""
    return f"in {wait_s:g} s" if wait_s else "at once"
