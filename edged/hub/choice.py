"""Which workers serve: those of the first group that works, and again an earlier group once it is back."""

from collections.abc import Iterator, Mapping, Sequence

from edged.errors import OUT_OF_MEMORY, DeviceError, DeviceMemoryError, ModelError
from edged.hub.loss import Loss
from edged.hub.notice import Notice
from edged.hub.remote_seat import RemoteSeat
from edged.hub.seat import Seat

AnySeat = Seat | RemoteSeat
Groups = Sequence[Sequence[AnySeat]]


class Choice:
    """The groups of seats, in order of preference, with what has become of each."""

    def __init__(self, groups: Groups) -> None:
        self.groups = groups
        self._leaving: list[AnySeat] = []  # no longer in the list, but not yet ended
        self._index = 0
        self._ever_ready = False
        self._start()

    @property
    def serving(self) -> Sequence[AnySeat]:
        """The group that serves, or should."""
        return self.groups[self._index]

    @property
    def all_seats(self) -> tuple[AnySeat, ...]:
        """Those of the list, and those that leave."""
        return (*(seat for group in self.groups for seat in group), *self._leaving)

    @property
    def ready(self) -> frozenset[str]:
        """The workers that are to get jobs."""
        return frozenset(seat.name for seat in self.serving if seat.ready and not seat.retires)

    def named(self, name: str) -> AnySeat | None:
        """The seat of the worker with this name."""
        return next((seat for seat in self.all_seats if seat.name == name), None)

    def change(self, groups: Groups, devices: Mapping[str, str]) -> None:
        """Another list of seats. `devices`: of those whose worker has other settings now, by name."""
        served = self.serving[0]
        kept = [seat for group in groups for seat in group]
        self._leaving = [seat for seat in self.all_seats if seat not in kept and seat.children]
        self.groups = groups
        for seat in self._leaving:
            seat.retire()
        self._index = next((index for index, group in enumerate(groups) if served in group), 0)
        for seat in kept:
            if seat.name in devices:
                seat.change(devices[seat.name])
        for group in groups[: self._index]:
            for seat in group:
                if seat.name in devices:
                    seat.start()
        self._start()

    def next_due_ns(self) -> int | None:
        """When `step` is to be called at the latest."""
        return min((seat.due_ns for seat in self.all_seats if seat.due_ns is not None), default=None)

    def is_ready(self, name: str) -> list[Notice]:
        """A worker has said hello."""
        seat = self.named(name)
        if seat is None or seat.retires:
            return []
        seat.says_hello()
        return list(self._settle())

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
        for group in self.groups[: self._index + 1]:
            for seat in group:
                if seat.due_ns is not None and now >= seat.due_ns:
                    seat.start()
        yield from self._settle()

    def _start(self) -> None:
        for seat in self.serving:
            seat.start()

    def _settle(self) -> Iterator[Notice]:
        """The first group with a worker that is ready serves."""
        ready = [any(seat.ready for seat in group) for group in self.groups[: self._index + 1]]
        self._ever_ready = self._ever_ready or any(ready)
        if not any(ready[:-1]):
            return
        self._index = ready.index(True)
        for group in self.groups[self._index + 1 :]:
            for seat in group:
                seat.retire()
        names = ", ".join(seat.name for seat in self.serving if seat.ready)
        message = f"device {self.serving[0].device} works again: worker {names} serves"
        yield Notice("device_retried", message, worker=self.serving[0].name)

    def _lost(self, seat: AnySeat, loss: Loss) -> Notice:
        what = f"worker {seat.name} {loss}"
        if seat.retires:
            return self._retired(seat)
        if loss.code == ModelError.exit_code and not self._ever_ready:
            raise ModelError(f"worker {seat.name} cannot use the model: its message is above")
        others = [other for other in self.serving if other is not seat and (other.ready or other.warming_up_s)]
        if seat not in self.serving or (loss.is_final and others):
            what += f"; its device {seat.device} is tried again in {seat.give_up():g} s"
        elif loss.is_final and self._index + 1 < len(self.groups):
            return self._fall_back(seat, what, loss.cause)
        elif loss.is_final and not self._ever_ready and isinstance(seat, Seat):
            raise self._no_worker(loss)
        else:
            what += f"; {_again(seat)}"
        return Notice("worker_lost", what, worker=seat.name, reason=loss.cause)

    def _retired(self, seat: AnySeat) -> Notice:
        seat.rest()
        if seat in self.serving:
            seat.start()
            message = f"worker {seat.name} has ended, and starts again with other settings"
        else:
            message = f"worker {seat.name} has made way for another one"
        return Notice("worker_retired", message, worker=seat.name)

    def _fall_back(self, lost: AnySeat, what: str, cause: str) -> Notice:
        lost.give_up()
        self._index += 1
        self._start()
        names = ", ".join(f"{seat.name} (device {seat.device})" for seat in self.serving)
        message = f"{what}: its device {lost.device} is given up, {names} takes over"
        return Notice("fallback", message, worker=lost.name, reason=cause)

    def _no_worker(self, last: Loss) -> DeviceError:
        devices = ", ".join(seat.device for seat in self.all_seats)
        kind = DeviceMemoryError if last.code == OUT_OF_MEMORY else DeviceError
        return kind(
            f"no worker can run ({self.serving[-1].name} was the last of workers: [{devices}]): "
            "their messages are above; `edged devices` lists what there is"
        )


def _again(seat: AnySeat) -> str:
    wait_s = seat.start_again()
    return "it is waited for" if isinstance(seat, RemoteSeat) else f"it starts again {when(wait_s)}"


def when(wait_s: float) -> str:
    """`at once`, `in 0.5 s`."""
    return f"in {wait_s:g} s" if wait_s else "at once"
