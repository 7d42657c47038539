"""Read what `compile_kernels` prints: the device's properties, and what Mesa's compilers say of each kernel."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace

from edged.engine.device import Device, describe
from edged.errors import DeviceError

# Mesa up to 25 begins it with SHADER-DB; 26 counts "instrs" where they counted "inst", and names the registers.
STATISTIC = re.compile(r"MESA_SHADER_(?:KERNEL|COMPUTE) shader: (.*)")
ADRENO = re.compile(r"; CL prog \d+/\d+: (.*)")
SPILLS = re.compile(r"(\d+):(\d+) spills:fills")
NUMBER = re.compile(r"([\d.]+) ([a-z -]+)")
ANSWER = re.compile(r"edged (begin|private|group|failed|end) (-?\d+)")
PROPERTY = re.compile(r"edged device (\w+) (.*)")
REGISTERS = ("registers", "registers used", "max-temps")
TEXTS = {"platform", "name", "version", "driver_version", "extensions"}


@dataclass(frozen=True)
class Statistics:
    """What a compiler counts of one kernel, as if each loop ran once.

    `counts`: by the compiler's own names, cycles of a unit among them. `threads`: the occupancy, how many times
    the least number of work-items the registers leave room for. `registers`: None where this Mesa has no number.
    """

    counts: Mapping[str, float]
    spills: int
    fills: int

    @property
    def loops(self) -> int:
        return int(self.counts["loops"])

    @property
    def threads(self) -> int:
        return int(self.counts["threads"])

    @property
    def registers(self) -> int | None:
        found = next((self.counts[name] for name in REGISTERS if name in self.counts), None)
        return None if found is None else int(found)


@dataclass(frozen=True)
class Compiled:
    """One program: `statistics` and the `largest_group` that it allows, or `failure`, why there are none.

    `private_bytes`: of arrays and spilled registers of a work-item, which lie in memory.
    """

    statistics: Statistics | None = None
    largest_group: int = 0
    private_bytes: int = 0
    failure: str = ""


@dataclass
class Output:
    """All that one run printed. `unfinished`: the program at which the compiler ended the process."""

    properties: dict[str, str] = field(default_factory=dict)
    compiled: dict[int, Compiled] = field(default_factory=dict)
    unfinished: int | None = None


def read_statistics(line: str) -> Statistics | None:
    """Return the statistics in a line of a compiler, None if it has none."""
    if not (found := STATISTIC.search(line)):
        return None
    spills = SPILLS.search(found[1])
    numbers = (NUMBER.fullmatch(part) for part in found[1].strip().split(", "))
    counts = {each[2]: float(each[1]) for each in numbers if each}
    if spills is None or not {"loops", "threads"} <= counts.keys():
        raise DeviceError(f"this version of Mesa prints statistics that are not understood: {found[0]!r}")
    return Statistics(counts, int(spills[1]), int(spills[2]))


def read_output(text: str) -> Output:
    """Sort a run's lines by program. Raises DeviceError for statistics of an unknown form."""
    output, lines = Output(), iter(text.splitlines())
    for line in lines:
        if found := PROPERTY.fullmatch(line):
            output.properties[found[1]] = found[2].strip()
        elif (answer := ANSWER.fullmatch(line)) and answer[1] == "begin":
            number = int(answer[2])
            compiled = _read_program(lines)
            if compiled is None:
                output.unfinished = number
            else:
                output.compiled[number] = compiled
    return output


def _read_program(lines: Iterator[str]) -> Compiled | None:
    """Read up to the end of a program; None if the lines stop before."""
    said, answers = list[str](), dict[str, str]()
    for line in lines:
        answer = ANSWER.fullmatch(line)
        if answer and answer[1] == "end":
            return _compiled(said, answers)
        if answer:
            answers[answer[1]] = answer[2]
        said += [] if answer else [line.strip()]
    return None


def _compiled(said: Sequence[str], answers: Mapping[str, str]) -> Compiled:
    """Return what the compiler said of a program, and `compile_kernels` after it.

    Mesa compiles a kernel twice: for any launch, then for one whose offsets are 0, as all of edged's are. The last
    one counts.
    """
    found = [each for line in said if (each := read_statistics(line))]
    statistics = found[-1] if found else read_adreno(said)
    failure = "" if statistics else "the compiler printed no statistics"
    if "failed" in answers:
        failure = f"OpenCL error {answers['failed']}: {' '.join(filter(None, said))}".rstrip(": ")
    group, private = (int(answers.get(name, 0)) for name in ("group", "private"))
    return Compiled(statistics, group, private, failure)


def read_adreno(said: Sequence[str]) -> Statistics | None:
    """Return the statistics of the last kernel that the compiler for Adreno printed, behind its instructions.

    What spills is stored by stp and loaded by ldp. The registers of a processor leave room for so many waves of 64
    work-items: ir3_get_reg_dependent_max_waves of Mesa, for Adreno 630.
    """
    ends = [number for number, line in enumerate(said) if ADRENO.search(line) and " loops" in line]
    if not ends:
        return None
    last = said[ends[-2] + 1 if len(ends) > 1 else 0 : ends[-1] + 1]
    counts: dict[str, float] = {}
    for found in filter(None, map(ADRENO.search, last)):
        counts |= {each[2]: float(each[1]) for each in NUMBER.finditer(found[1])}
    counts["registers"] = counts["full"]
    counts["threads"] = 96 // max(1, counts["full"]) * 2
    spills, fills = (sum(bool(re.search(rf"\b{access}\.", line)) for line in last) for access in ("stp", "ldp"))
    return Statistics(counts, spills, fills)


def device_of(properties: Mapping[str, str]) -> Device:
    """Return the device with the properties that its driver gave. Raises DeviceError if there are none."""
    if "name" not in properties:
        raise DeviceError("Mesa finds no GPU: remove the root (see tools/mali_root.sh), and have it made again")
    values = {name: value if name in TEXTS else int(value) for name, value in properties.items()}
    return describe(SimpleNamespace(name=values["platform"]), SimpleNamespace(**values), (0, 0))
