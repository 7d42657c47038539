"""Launch a whole plan at once where that is possible, if the times of jobs show that it is faster than by layer.

Which form is faster depends on the network, and on what else runs: where other programs take a core, a group that
waits for another takes time from it. Only neighbours are compared, since a machine may become slower as a whole.
"""

from collections import defaultdict, deque
from dataclasses import dataclass, field, replace
from enum import Enum
from statistics import median
from typing import Any

import numpy as np

from edged.engine.compile_apart import compile_launches
from edged.engine.composition import Composition, compose, compositions, pause_on
from edged.engine.device import Device
from edged.engine.executable import Executable, Step
from edged.engine.launch import Launch
from edged.engine.opencl import cl, device_error, device_errors
from edged.engine.planner import Plan
from edged.engine.programs import Programs

COMPARED = 3  # the latest comparisons, whose median decides
TRIED_EVERY = 32  # jobs: then one is launched in the other form
CLEARLY = 0.97  # of the time of the present form: less than that is faster

LINE_BYTES = 64
GIVEN_UP = 4  # bytes before the word that counts waits given up


class LaunchForm(Enum):
    """How the kernels of a job are launched."""

    BY_LAYER = "by layer"
    ONE_LAUNCH = "one launch"

    @property
    def other(self) -> "LaunchForm":
        return LaunchForm.ONE_LAUNCH if self is LaunchForm.BY_LAYER else LaunchForm.BY_LAYER


class _Rivals:
    """The two forms for jobs of one size."""

    def __init__(self) -> None:
        self.present = LaunchForm.BY_LAYER
        self._jobs = 0
        self._seconds: float | None = None  # of the latest job in the present form
        self._ratios: deque[float] = deque(maxlen=COMPARED)

    def next(self) -> LaunchForm:
        self._jobs += 1
        every = TRIED_EVERY if len(self._ratios) == COMPARED else 2
        return self.present.other if self._jobs % every == 0 else self.present

    def add(self, form: LaunchForm, seconds: float) -> None:
        if form is self.present:
            self._seconds = seconds
        elif self._seconds:
            self._ratios.append(seconds / self._seconds)
            if len(self._ratios) == COMPARED and median(self._ratios) < CLEARLY:
                self.present, self._seconds = form, None
                self._ratios.clear()


class FormChoice:
    """Chooses the form of each job; jobs of different numbers of frames have nothing to do with one another."""

    def __init__(self) -> None:
        self._rivals: dict[int, _Rivals] = defaultdict(_Rivals)

    def next(self, frames: int) -> LaunchForm:
        """Return the form of the next job: the faster one, at times the other."""
        return self._rivals[frames].next()

    def add(self, form: LaunchForm, frames: int, seconds: float) -> None:
        """Compare the seconds that a job took on the device with those of its neighbour in the other form."""
        self._rivals[frames].add(form, seconds)


@dataclass(frozen=True, eq=False)
class OneLaunchStep:
    """A composition ready to be enqueued, for one slot.

    `buffers` keeps its buffers alive. `set_frames`: the number of frames that the kernel was set to.
    """

    launch: Launch
    kernel: Any
    buffers: tuple[Any, ...]
    groups: int
    device_name: str
    set_frames: list[int] = field(default_factory=list)

    def __str__(self) -> str:
        return f"one launch of {self.launch.operator}"

    def enqueue(self, queue: Any, frames: int, after: list[Any] | None = None) -> Any:
        """Enqueue the kernel for `frames` frames after the events `after`; return its own event."""
        try:
            if self.set_frames != [frames]:
                self.kernel.set_arg(2, np.int32(frames))
                self.set_frames[:] = [frames]
            return cl.enqueue_nd_range_kernel(queue, self.kernel, (self.groups, 1, 1), (1, 1, 1), wait_for=after)
        except cl.Error as error:
            raise device_error(self.device_name, f"starting {self}", error) from error


AnyStep = Step | OneLaunchStep


class Composer:
    """Makes the steps of a plan in which each composition is one launch."""

    def __init__(
        self, plan: Plan, executable: Executable, context: Any, device: Device, programs: Programs
    ) -> None:
        self._executable, self._context, self._device, self._programs = executable, context, device, programs
        self._weights = executable.weights.buffers if executable.weights else ()
        places = executable.weights.places if executable.weights else {}
        self._compositions = compositions(plan, device, places)
        self._counters: list[Any] = []  # of each composition, once it is made

    @property
    def is_possible(self) -> bool:
        """Return whether any part of the plan can be one launch."""
        return bool(self._compositions)

    def forward(self, *, apart: bool = False) -> tuple[tuple[AnyStep, ...], ...]:
        """Return the steps for each job in flight.

        `apart`: compile in other processes. Raises DeviceError if the driver rejects a source.
        """
        pause, buffers = pause_on(self._device), len(self._weights)
        sources = [compose(composition.kernels, buffers, pause) for composition in self._compositions]
        if apart:
            compile_launches(self._programs, [source for source in sources if not self._programs.has(source)])
        slots = [list[AnyStep](steps) for steps in self._executable.forward]
        pairs = zip(self._compositions, sources, strict=True)
        for composition, source in reversed(list(pairs)):  # so that the indices of those before stay valid
            for slot, step in zip(slots, self._steps(composition, source), strict=True):
                slot[composition.first : composition.first + len(composition.kernels)] = [step]
        self._programs.save()
        return tuple(map(tuple, slots))

    def _steps(self, composition: Composition, source: str) -> list[OneLaunchStep]:
        """Build a composition, for each slot. The counters are shared: two jobs never compute at once."""
        executable, name = self._executable, self._device.name
        first, last = composition.kernels[0].launch, composition.kernels[-1].launch
        launch = replace(first, kernel="one_launch", operator=f"{first.operator} … {last.operator}")
        steps = []
        with device_errors(name, f"preparing one launch of {launch.operator}"):
            parts = self._device.compute_units
            lines = 1 + len(composition.kernels) * (1 + parts)  # of the cache: see one_launch.cl
            zeros = np.zeros(lines * LINE_BYTES, np.uint8)
            flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
            counters = cl.Buffer(self._context, flags, hostbuf=zeros)
            self._counters.append(counters)
            for ends in zip(executable.images, executable.outputs, strict=True):
                kernel = self._programs.composed(source)
                buffers = (counters, np.int32(parts), np.int32(1), executable.arena, *ends, *self._weights)
                kernel.set_args(*buffers)
                steps.append(OneLaunchStep(launch, kernel, buffers, parts, name))
        return steps

    def waits_given_up(self, queue: Any) -> int:
        """Return how many waits of a group for another were given up; waits for what `queue` has to do."""
        made = tuple(self._counters)  # another thread may compose meanwhile
        words = np.zeros(len(made), np.int32)
        for index, counters in enumerate(made):
            cl.enqueue_copy(queue, words[index : index + 1], counters, src_offset=GIVEN_UP)
        return int(words.sum())
