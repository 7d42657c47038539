"""Choose which workers serve: the first group of slots that works, and an earlier group again once it is back."""

from collections.abc import Iterator, Mapping, Sequence

from edged.errors import OUT_OF_MEMORY, DeviceError, DeviceMemoryError, ModelError
from edged.hub.children.child import when
from edged.hub.events import HubEvent
from edged.hub.workers.remote_seat import RemoteWorkerSlot
from edged.hub.workers.seat import Loss, WorkerSlot

AnyWorkerSlot = WorkerSlot | RemoteWorkerSlot


class Group:
    """One or more parts of the network in sequence; the slots of one part share its jobs."""

    def __init__(self, parts: Sequence[Sequence[AnyWorkerSlot]]) -> None:
        self._parts = parts

    @property
    def seats(self) -> list[AnyWorkerSlot]:
        """Return all slots, in the order of the config."""
        return [seat for part in self._parts for seat in part]

    @property
    def works(self) -> bool:
        """Return whether each part has a worker that is ready."""
        return all(any(seat.ready for seat in part) for part in self._parts)

    @property
    def is_split(self) -> bool:
        """Return whether it has several parts."""
        return len(self._parts) > 1

    @property
    def could_work(self) -> bool:
        """Return whether its parts would work if the slots that yielded to another group were started."""
        return self.is_split and all(any(seat.ready or seat.rests for seat in part) for part in self._parts)

    def wake(self) -> None:
        """Start the slots that rest."""
        for seat in self.seats:
            if seat.rests:
                seat.start()

    def beside(self, seat: AnyWorkerSlot) -> list[AnyWorkerSlot]:
        """Return the other slots of the same part."""
        return [other for part in self._parts if seat in part for other in part if other is not seat]

    def beyond(self, seat: AnyWorkerSlot) -> list[AnyWorkerSlot]:
        """Return the slots of the other parts."""
        return [other for part in self._parts if seat not in part for other in part]


Groups = Sequence[Group]


class GroupChoice:
    """The groups of slots, in order of preference, each with its state."""

    def __init__(self, groups: Groups) -> None:
        self.groups = groups
        self._leaving: list[AnyWorkerSlot] = []  # no longer in the list, but not yet ended
        self._anew: frozenset[AnyWorkerSlot] = frozenset()  # to be started again once they have ended
        self._index = 0
        self._ever_ready = False
        self._start()

    @property
    def serving(self) -> Group:
        """Return the group that serves, or should."""
        return self.groups[self._index]

    @property
    def is_fallback(self) -> bool:
        """Return whether another group than the first one serves."""
        return self._index > 0

    @property
    def all_seats(self) -> tuple[AnyWorkerSlot, ...]:
        """Return the slots of the list, and those that are leaving."""
        return (*(seat for group in self.groups for seat in group.seats), *self._leaving)

    @property
    def ready(self) -> frozenset[str]:
        """Return the workers that may get jobs."""
        return frozenset(seat.name for seat in self.serving.seats if seat.ready and not seat.retires)

    def named(self, name: str) -> AnyWorkerSlot | None:
        """Return the slot of the worker with this name."""
        return next((seat for seat in self.all_seats if seat.name == name), None)

    def change(self, groups: Groups, devices: Mapping[str, str]) -> None:
        """Apply another list of slots. `devices`: by name, of workers whose settings have changed."""
        served = self.serving.seats[0]
        kept = [seat for group in groups for seat in group.seats]
        self._leaving = [seat for seat in self.all_seats if seat not in kept and seat.children]
        self.groups = groups
        for seat in self._leaving:
            seat.retire()
        self._index = next((index for index, group in enumerate(groups) if served in group.seats), 0)
        for seat in kept:
            if seat.name in devices:
                seat.change(devices[seat.name])
        tried = [seat for group in groups[: self._index] for seat in group.seats if seat.name in devices]
        self._anew = frozenset(seat for seat in tried if seat.retires)
        for seat in tried:
            seat.start()
        self._start()

    def next_due_ns(self) -> int | None:
        """Return when `step` must be called at the latest."""
        return min((seat.due_ns for seat in self.all_seats if seat.due_ns is not None), default=None)

    def is_ready(self, name: str) -> list[HubEvent]:
        """Record a worker's hello."""
        seat = self.named(name)
        if seat is None or seat.retires:
            return []
        seat.says_hello()
        return list(self._settle())

    def step(self, now: int) -> Iterator[HubEvent]:
        """Return what has happened to each slot. Raises EdgedError if no worker can ever serve."""
        for seat in self.all_seats:
            loss = seat.step(now)
            if loss and loss.cause == "stuck":
                message = f"worker {seat.name} hangs in the kernel, which holds its device until then"
                yield HubEvent("worker_stuck", message, worker=seat.name)
            if loss:
                yield self._lost(seat, loss)
        self._leaving = [seat for seat in self._leaving if seat.children]
        for group in self.groups[: self._index + 1]:
            for seat in group.seats:
                if seat.due_ns is not None and now >= seat.due_ns:
                    self._try_again(group, seat)
        yield from self._settle()

    def _start(self) -> None:
        for seat in self.serving.seats:
            seat.start()

    def _settle(self) -> Iterator[HubEvent]:
        """Select the first group that works; an earlier one that only needs to be started is started."""
        self._ever_ready = self._ever_ready or any(group.works for group in self.groups[: self._index + 1])
        for index, group in enumerate(self.groups[: self._index]):
            if group.works or (group.could_work and any(map(self._is_taken, group.seats))):
                yield self._switch_back(index)
                return
            if group.could_work:
                group.wake()

    def _switch_back(self, index: int) -> HubEvent:
        self._index = index
        for group in self.groups[index + 1 :]:
            for seat in group.seats:
                seat.stop()
        self.serving.wake()
        names = ", ".join(seat.name for seat in self.serving.seats if seat.ready or not self.serving.works)
        devices = " and ".join(dict.fromkeys(seat.device for seat in self.serving.seats))
        message = f"device {devices} works again: worker {names} serves"
        return HubEvent("device_retried", message, worker=self.serving.seats[0].name)

    def _try_again(self, group: Group, seat: AnyWorkerSlot) -> None:
        """Make slots yield a part's device once all other parts of its group are ready (see `_settle`)."""
        if group.is_split and self._is_taken(seat):
            seat.rest()
        else:
            seat.start()

    def _is_taken(self, seat: AnyWorkerSlot) -> bool:
        """Return whether a worker that serves in its place occupies its device."""
        if seat in self.serving.seats or not seat.alone or seat.children:
            return False
        return any(
            other.alone and other.children and other.device.lower() == seat.device.lower()
            for other in self.serving.seats
        )

    def _lost(self, seat: AnyWorkerSlot, loss: Loss) -> HubEvent:
        what = f"worker {seat.name} {loss}"
        if seat.retires:
            return self._retired(seat)
        if loss.code == ModelError.exit_code and not self._ever_ready:
            raise ModelError(f"worker {seat.name} cannot use the model: its message is above")
        others = [each for each in self.serving.beside(seat) if each.ready or each.warming_up_s]
        if seat not in self.serving.seats or (loss.is_final and others):
            what += f"; {_given_up(seat, loss.cause)} is tried again in {seat.give_up():g} s"
        elif loss.is_final and self._index + 1 < len(self.groups):
            return self._fall_back(seat, what, loss.cause)
        elif loss.is_final and loss.cause != "refused" and not self._ever_ready and isinstance(seat, WorkerSlot):
            raise self._no_worker(loss)
        else:
            what += f"; {_again(seat)}"
        return HubEvent("worker_lost", what, worker=seat.name, reason=loss.cause)

    def _retired(self, seat: AnyWorkerSlot) -> HubEvent:
        seat.rest()
        anew, self._anew = seat in self._anew, self._anew - {seat}
        if seat in self.serving.seats or (anew and self._is_before(seat)):
            seat.start()
            message = f"worker {seat.name} has ended, and starts again with other settings"
        else:
            message = f"worker {seat.name} has yielded its device to another one"
        return HubEvent("worker_retired", message, worker=seat.name)

    def _is_before(self, seat: AnyWorkerSlot) -> bool:
        """Return whether it is of a group that should serve, once it works, in place of the present one."""
        return any(seat in group.seats for group in self.groups[: self._index])

    def _fall_back(self, lost: AnyWorkerSlot, what: str, cause: str) -> HubEvent:
        lost.give_up()
        for seat in self.serving.beyond(lost):
            seat.make_way()
        self._index += 1
        self._start()
        names = ", ".join(f"{seat.name} (device {seat.device})" for seat in self.serving.seats)
        message = f"{what}: {_given_up(lost, cause)} is given up, {names} takes over"
        return HubEvent("fallback", message, worker=lost.name, reason=cause)

    def _no_worker(self, last: Loss) -> DeviceError:
        devices = ", ".join(seat.device for seat in self.all_seats)
        kind = DeviceMemoryError if last.code == OUT_OF_MEMORY else DeviceError
        return kind(
            f"no worker can run ({self.serving.seats[-1].name} was the last of workers: [{devices}]): "
            "their messages are above; `edged devices` lists all devices"
        )


def _again(seat: AnyWorkerSlot) -> str:
    wait_s = seat.start_again()
    return "it is waited for" if isinstance(seat, RemoteWorkerSlot) else f"it starts again {when(wait_s)}"


def _given_up(seat: AnyWorkerSlot, cause: str) -> str:
    """Name its device, unless that has no part in the loss."""
    return "it" if cause == "refused" else f"its device {seat.device}"
