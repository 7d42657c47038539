"""The way of one frame: the legs of it, the files that each enters, and the jumps between them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from tools.frame_path.record import Call, Function, Turn

MOST_FILES, MOST_HUB_FILES, MOST_JUMPS = 40, 16, 110
LEFT_OUT = ("clock.py", "drawing/")  # every function reads the clock; the drawing stands for a sensor
HUB = "hub/"
MAIN = "main"
OFTEN = 10  # turns of one leg
MANY = 0.5  # turns that enter the same files, of as many as the most frequent ones


@dataclass(frozen=True, slots=True)
class Leg:
    """One turn of a thread, of those that a frame goes through. `calls`: in their order, each pair once."""

    title: str
    calls: tuple[Call, ...]

    @property
    def functions(self) -> tuple[Function, ...]:
        """Return the functions that are entered, in the order of their first call."""
        return tuple(dict.fromkeys(callee for _, callee in self.calls))

    @property
    def files(self) -> frozenset[str]:
        """Return the files of those functions."""
        return frozenset(function.file for function in self.functions)

    @property
    def jumps(self) -> frozenset[Call]:
        """Return the calls that lead from one file into another."""
        return frozenset((caller, callee) for caller, callee in self.calls if caller.file != callee.file)


@dataclass(frozen=True, slots=True)
class Way:
    """All legs. A jump that two legs have in common is one jump: a reader follows it once."""

    legs: tuple[Leg, ...]

    @property
    def functions(self) -> frozenset[Function]:
        """Return every function that a frame enters."""
        return frozenset(function for leg in self.legs for function in leg.functions)

    @property
    def files(self) -> frozenset[str]:
        """Return every file that a frame enters."""
        return frozenset(file for leg in self.legs for file in leg.files)

    @property
    def hub_files(self) -> frozenset[str]:
        """Return those of the hub."""
        return frozenset(file for file in self.files if file.startswith(HUB))

    @property
    def jumps(self) -> frozenset[Call]:
        return frozenset(jump for leg in self.legs for jump in leg.jumps)

    @property
    def jumps_of_all_legs(self) -> int:
        """Return how many jumps there are if each leg counts its own."""
        return sum(len(leg.jumps) for leg in self.legs)

    def problems(self) -> list[str]:
        """Return which limits it exceeds."""
        figures = {
            "files": (len(self.files), MOST_FILES),
            "files of the hub": (len(self.hub_files), MOST_HUB_FILES),
            "jumps": (len(self.jumps), MOST_JUMPS),
        }
        return [f"{number} {what}, at most {most}" for what, (number, most) in figures.items() if number > most]


LEGS = {  # by process, thread, and the messages that are received and sent
    ("camera", MAIN, "", "Frame"): "camera: a picture becomes a frame",
    ("run", MAIN, "Frame", "Job"): "hub: the frame arrives and is handed out",
    ("worker", MAIN, "Job", ""): "worker: the job arrives",
    ("worker", MAIN, "", "Scores"): "worker: the job is answered",
    ("run", MAIN, "Scores", ""): "hub: the answer becomes a prediction",
    ("run", "stream", "", ""): "stream thread: the prediction is sent",
    ("run", MAIN, "", ""): "hub: the prediction is counted",
}


def title_of(turn: Turn) -> str | None:
    """Return which leg a turn is; None for a turn that does more than one thing, or another one."""
    return LEGS.get((turn.process, turn.thread, _how(turn, "received "), _how(turn, "sent ")))


def _how(turn: Turn, how: str) -> str:
    return ", ".join(sorted(each.removeprefix(how) for each in turn.messages if each.startswith(how)))


def shows_each_leg(turns: Iterable[Turn]) -> bool:
    """Return whether each leg was recorded so often that its usual turn stands out."""
    seen = Counter(title_of(turn) for turn in turns)
    return all(seen[title] >= OFTEN for title in LEGS.values())


def way_of(turns: Iterable[Turn]) -> Way:
    """Return the usual turn of each leg. Raises ValueError where a leg is missing."""
    found: dict[str, list[Leg]] = defaultdict(list)
    for turn in turns:
        if title := title_of(turn):
            calls = (call for call in turn.calls if not call[1].file.startswith(LEFT_OUT))
            found[title].append(Leg(title, tuple(dict.fromkeys(calls))))
    if missing := [title for title in LEGS.values() if title not in found]:
        raise ValueError(f"no such turn was recorded: {', '.join(missing)}")
    return Way(tuple(_usual(found[title]) for title in LEGS.values()))


def _usual(legs: Sequence[Leg]) -> Leg:
    """Return, of those that enter the usual files, the one with the fewest jumps.

    The others do what is done once a second, too; on a busy machine these may be most. The usual files are the
    fewest that many turns enter.
    """
    turns = Counter(leg.files for leg in legs)
    most = max(turns.values())
    usual = min((files for files, number in turns.items() if number >= MANY * most), key=len)
    return min((leg for leg in legs if leg.files == usual), key=lambda leg: len(leg.jumps))


@dataclass
class Stop:
    """A file where a reader stays for some functions, and the files into which these call."""

    file: str
    functions: list[Function] = field(default_factory=list)
    onward: "list[Stop]" = field(default_factory=list)

    def lines(self, indent: str = "") -> Iterator[str]:
        """Yield the picture of the stop and of what lies behind it."""
        yield f"{self.file}  {', '.join(_names(self.functions))}"
        for number, stop in enumerate(self.onward, start=1):
            is_last = number == len(self.onward)
            first, *others = stop.lines()
            yield f"{indent}{'└─ ' if is_last else '├─ '}{first}"
            yield from (f"{indent}{'   ' if is_last else '│  '}{line}" for line in others)


def stops_of(leg: Leg) -> list[Stop]:
    """Return the roots of a leg's picture: functions of one file that call each other are one stop."""
    roots: list[Stop] = []
    place: dict[Function, Stop] = {}
    for caller, callee in leg.calls:
        if callee in place:
            continue
        if caller not in place:
            place[caller] = next((stop for stop in roots if stop.file == caller.file), Stop(caller.file))
            place[caller].functions.append(caller)  # the turn begins in it, after its wait
            if place[caller] not in roots:
                roots.append(place[caller])
        here = place[caller]
        if callee.file != here.file:
            there = next((stop for stop in here.onward if stop.file == callee.file), None)
            if there is None:
                there = Stop(callee.file)
                here.onward.append(there)
            here = there
        here.functions.append(callee)
        place[callee] = here
    return roots


def _names(functions: Iterable[Function]) -> Iterator[str]:
    """Yield their names; `.name` is one of the same class as the one before."""
    before = ""
    for function in functions:
        owner, _, name = function.name.rpartition(".")
        yield f".{name}" if owner and owner == before else function.name
        before = owner
