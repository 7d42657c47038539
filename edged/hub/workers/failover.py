"""Choose which workers serve: the first group of slots that works, and an earlier group again once it is back.

While a group compiles its kernels, the next one answers if it needs none: it stands in.
"""

from collections.abc import Iterator, Mapping, Sequence

from edged.errors import OUT_OF_MEMORY, DeviceError, DeviceMemoryError, ModelError
from edged.hub.children.child import when
from edged.hub.events import HubEvent
from edged.hub.workers.group import AnyWorkerSlot, Group
from edged.hub.workers.remote_slot import RemoteWorkerSlot
from edged.hub.workers.slot import Loss, WorkerSlot

Groups = Sequence[Group]


class GroupChoice:
    """The groups of slots, in order of preference, each with its state."""

    def __init__(self, groups: Groups) -> None:
        self.groups = groups
        self._leaving: list[AnyWorkerSlot] = []  # no longer in the list, but not yet ended
        self._anew: frozenset[AnyWorkerSlot] = frozenset()  # to be started again once they have ended
        self._wanted = 0  # the first group that was not given up
        self._index = 0  # the group that serves: that one, or a later one in its place until it has started
        self._ever_ready = False
        self._start()

    @property
    def serving(self) -> Group:
        """Return the group that serves, or should."""
        return self.groups[self._index]

    @property
    def is_fallback(self) -> bool:
        """Return whether the first group was given up, and another one serves, or should."""
        return self._wanted > 0

    @property
    def all_slots(self) -> tuple[AnyWorkerSlot, ...]:
        """Return the slots of the list, and those that are leaving."""
        return (*(slot for group in self.groups for slot in group.slots), *self._leaving)

    @property
    def ready(self) -> frozenset[str]:
        """Return the workers that may get jobs."""
        return frozenset(slot.name for slot in self.serving.slots if slot.ready and not slot.retires)

    def named(self, name: str) -> AnyWorkerSlot | None:
        """Return the slot of the worker with this name."""
        return next((slot for slot in self.all_slots if slot.name == name), None)

    def change(self, groups: Groups, devices: Mapping[str, str]) -> None:
        """Apply another list of slots. `devices`: by name, of workers whose settings have changed."""
        wanted, served = self.groups[self._wanted].slots[0], self.serving.slots[0]
        kept = [slot for group in groups for slot in group.slots]
        self._leaving = [slot for slot in self.all_slots if slot not in kept and slot.children]
        self.groups = groups
        for slot in self._leaving:
            slot.retire()
        self._index = _index_of(served, groups)
        self._wanted = min(_index_of(wanted, groups), self._index)
        for slot in kept:
            if slot.name in devices:
                slot.change(devices[slot.name])
        tried = [slot for group in groups[: self._index] for slot in group.slots if slot.name in devices]
        self._anew = frozenset(slot for slot in tried if slot.retires)
        for slot in tried:
            slot.start()
        self._start()

    def next_due_ns(self) -> int | None:
        """Return when `step` must be called at the latest."""
        due_ns = (*(slot.due_ns for slot in self.all_slots), self._stand_in_due_ns)
        return min((at for at in due_ns if at is not None), default=None)

    def is_ready(self, name: str) -> list[HubEvent]:
        """Record a worker's hello."""
        slot = self.named(name)
        if slot is None or slot.retires:
            return []
        slot.says_hello()
        return list(self._settle())

    def step(self, now: int) -> Iterator[HubEvent]:
        """Return what has happened to each slot. Raises EdgedError if no worker can ever serve."""
        for slot in self.all_slots:
            loss = slot.step(now)
            if loss and loss.cause == "stuck":
                message = f"worker {slot.name} hangs in the kernel, which holds its device until then"
                yield HubEvent("worker_stuck", message, worker=slot.name)
            if loss:
                yield self._lost(slot, loss)
        self._leaving = [slot for slot in self._leaving if slot.children]
        for group in self.groups[: self._index + 1]:
            for slot in group.slots:
                if slot.due_ns is not None and now >= slot.due_ns:
                    self._try_again(group, slot)
        self._start_stand_in(now)
        yield from self._settle()

    def _start(self) -> None:
        for slot in self.groups[self._wanted].slots:
            slot.start()

    def _settle(self) -> Iterator[HubEvent]:
        """Select the first group that works; an earlier one that only needs to be started is started."""
        self._ever_ready = self._ever_ready or any(group.works for group in self.groups[: self._index + 1])
        for index, group in enumerate(self.groups[: self._index]):
            if group.works or (group.could_work and any(map(self._is_taken, group.slots))):
                yield self._switch_back(index)
                return
            if group.could_work:
                group.wake()
        yield from self._settle_stand_in()

    @property
    def _stand_in(self) -> Group | None:
        """Return the group that may answer while the one that serves is starting."""
        later = self.groups[self._index + 1 :] if self._index == self._wanted else ()
        return next((group for group in later if group.can_stand_in), None)

    @property
    def _stand_in_due_ns(self) -> int | None:
        """Return when that group must be started; None: it need not."""
        group = self._stand_in
        if group is None or self.serving.works or not any(slot.rests for slot in group.slots):
            return None
        return self.serving.overdue_ns

    def _start_stand_in(self, now: int) -> None:
        group, due_ns = self._stand_in, self._stand_in_due_ns
        if group and due_ns is not None and now >= due_ns:
            group.wake()

    def _settle_stand_in(self) -> Iterator[HubEvent]:
        """Let it serve once it is ready, unless it is no longer needed."""
        group, starting = self._stand_in, self.serving
        if group is None or not group.children:
            return
        if starting.works:
            for slot in group.slots:
                if not slot.retires:
                    slot.stop()
        elif group.works and starting.overdue_ns is not None:
            self._index = self.groups.index(group)
            what = f"worker {starting.slots[0].name} is still starting device {starting.slots[0].device}"
            message = f"{what}: {_described(group)} answers until it is ready"
            yield HubEvent("stand_in", message, worker=group.slots[0].name)

    def _switch_back(self, index: int) -> HubEvent:
        has_started = index == self._wanted
        self._wanted = self._index = index
        for group in self.groups[index + 1 :]:
            for slot in group.slots:
                slot.stop()
        self.serving.wake()
        names = ", ".join(slot.name for slot in self.serving.slots if slot.ready or not self.serving.works)
        devices = " and ".join(dict.fromkeys(slot.device for slot in self.serving.slots))
        message = f"device {devices} {'has started' if has_started else 'works again'}: worker {names} serves"
        return HubEvent(
            "stand_in_ended" if has_started else "device_retried", message, worker=self.serving.slots[0].name
        )

    def _try_again(self, group: Group, slot: AnyWorkerSlot) -> None:
        """Make slots yield a part's device once all other parts of its group are ready (see `_settle`)."""
        if group.is_split and self._is_taken(slot):
            slot.rest()
        else:
            slot.start()

    def _is_taken(self, slot: AnyWorkerSlot) -> bool:
        """Return whether a worker that serves in its place occupies its device."""
        if slot in self.serving.slots or not slot.alone or slot.children:
            return False
        return any(
            other.alone and other.children and other.device.lower() == slot.device.lower()
            for other in self.serving.slots
        )

    def _lost(self, slot: AnyWorkerSlot, loss: Loss) -> HubEvent:
        what = f"worker {slot.name} {loss}"
        if slot.retires:
            return self._retired(slot)
        if loss.code == ModelError.exit_code and not self._ever_ready:
            raise ModelError(f"worker {slot.name} cannot use the model: its message is above")
        wanted = self.groups[self._wanted]
        others = [each for each in wanted.peers_of(slot) if each.ready or each.warming_up_s]
        if self._stand_in and slot in self._stand_in.slots:
            what += f"; {_again(slot)}"
        elif slot not in wanted.slots or (loss.is_final and others):
            what += f"; {_given_up(slot, loss.cause)} is tried again in {slot.give_up():g} s"
        elif loss.is_final and self._wanted + 1 < len(self.groups):
            return self._fall_back(slot, what, loss.cause)
        elif loss.is_final and loss.cause != "refused" and not self._ever_ready and isinstance(slot, WorkerSlot):
            raise self._no_worker(loss)
        else:
            what += f"; {_again(slot)}"
        return HubEvent("worker_lost", what, worker=slot.name, reason=loss.cause)

    def _retired(self, slot: AnyWorkerSlot) -> HubEvent:
        slot.rest()
        anew, self._anew = slot in self._anew, self._anew - {slot}
        if slot in self.serving.slots or (anew and self._is_before(slot)):
            slot.start()
            message = f"worker {slot.name} has ended, and starts again with other settings"
        else:
            message = f"worker {slot.name} has ended, since another one serves"
        return HubEvent("worker_retired", message, worker=slot.name)

    def _is_before(self, slot: AnyWorkerSlot) -> bool:
        """Return whether it is of a group that should serve, once it works, in place of the present one."""
        return any(slot in group.slots for group in self.groups[: self._index])

    def _fall_back(self, lost: AnyWorkerSlot, what: str, cause: str) -> HubEvent:
        lost.give_up()
        for slot in self.groups[self._wanted].slots_of_other_parts(lost):
            slot.yield_device()
        self._wanted += 1
        self._index = max(self._index, self._wanted)
        self._start()
        message = (
            f"{what}: {_given_up(lost, cause)} is given up, {_described(self.groups[self._wanted])} takes over"
        )
        return HubEvent("fallback", message, worker=lost.name, reason=cause)

    def _no_worker(self, last: Loss) -> DeviceError:
        devices = ", ".join(slot.device for slot in self.all_slots)
        kind = DeviceMemoryError if last.code == OUT_OF_MEMORY else DeviceError
        return kind(
            f"no worker can run ({self.serving.slots[-1].name} was the last of workers: [{devices}]): "
            "their messages are above; `edged devices` lists all devices"
        )


def _index_of(slot: AnyWorkerSlot, groups: Groups) -> int:
    """Return the group of a slot; 0 if it is in none."""
    return next((index for index, group in enumerate(groups) if slot in group.slots), 0)


def _described(group: Group) -> str:
    return ", ".join(f"{slot.name} (device {slot.device})" for slot in group.slots)


def _again(slot: AnyWorkerSlot) -> str:
    wait_s = slot.start_again()
    return "it is waited for" if isinstance(slot, RemoteWorkerSlot) else f"it starts again {when(wait_s)}"


def _given_up(slot: AnyWorkerSlot, cause: str) -> str:
    """Name its device, unless that has no part in the loss."""
    return "it" if cause == "refused" else f"its device {slot.device}"
