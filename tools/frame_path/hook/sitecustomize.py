"""Record which functions of edged a process calls, turn by turn. Python imports this module before any other.

It does nothing unless `FRAME_PATH` names a folder. There each process writes a file of JSON lines: a line for each
turn of a thread (from one wait to the next) in which a message of the pipeline was handled.
"""

import json
import os
import sys
import threading
import time
from itertools import count
from types import CodeType, FrameType
from typing import Any

MESSAGES = {"Frame", "Job", "Scores", "Prediction"}  # what makes a turn worth writing down: types by name
WAITS = {"poll": "zmq/sugar/poll.py", "wait": "threading.py"}  # Python functions by their files
ROLES = ("run", "camera", "worker")

_threads = count()


class Recorder:
    """The calls of one thread. A call is (number of the caller, number of the callee)."""

    def __init__(self, root: str, file: Any) -> None:
        self._thread = next(_threads)
        self._is_main = threading.current_thread() is threading.main_thread()
        self._root = root
        self._file = file
        self._numbers: dict[CodeType, int | None] = {}  # None: not a function of edged
        self._stack: list[int] = []
        self._calls: list[tuple[int, int]] = []
        self._messages: set[str] = set()

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        """Record a call or a return of a function of edged, as `sys.setprofile` calls it."""
        if event == "c_call":
            if getattr(argument, "__name__", "") == "acquire" and not self._is_main:
                self._end_turn()
            return
        if event not in ("call", "return"):
            return
        code = frame.f_code
        if code not in self._numbers:
            self._numbers[code] = self._number(code)
        number = self._numbers[code]
        if number is None:
            if (
                event == "call"
                and code.co_filename.endswith(WAITS.get(code.co_name, "\0"))
                and not _is_look(frame)
            ):
                self._end_turn()
        elif event == "call":
            self._calls.append((self._stack[-1] if self._stack else number, number))
            self._stack.append(number)
            names = code.co_varnames[: code.co_argcount]
            for value in (frame.f_locals.get(name) for name in names):
                self._note("sent " if self._is_codec(code, "encode") else "", value)
        else:
            if self._stack:
                self._stack.pop()
            self._note("received " if self._is_codec(code, "decode") else "", argument)

    def _number(self, code: CodeType) -> int | None:
        if not code.co_filename.startswith(self._root) or code.co_name == "<module>":
            return None
        place = [code.co_filename[len(self._root) :], code.co_qualname.partition(".<locals>")[0]]
        number = len(self._numbers)
        self._write({"thread": self._thread, "number": number, "function": place})
        return number

    def _is_codec(self, code: CodeType, name: str) -> bool:
        return code.co_name == name and code.co_filename.startswith(os.path.join(self._root, "messages"))

    def _note(self, how: str, value: Any) -> None:
        if (name := type(value).__name__) in MESSAGES:
            self._messages.add(how + name)

    def _end_turn(self) -> None:
        if self._messages:
            name = "main" if self._is_main else threading.current_thread().name
            turn = {"name": name, "messages": sorted(self._messages), "calls": self._calls}
            self._write({"thread": self._thread, **turn})
        self._calls, self._messages = [], set()

    def _write(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line) + "\n")


def _is_look(frame: FrameType) -> bool:
    """Return whether a poll is that of one socket, which looks whether there is room: it ends no turn."""
    return frame.f_back is not None and frame.f_back.f_code.co_filename.endswith("zmq/sugar/socket.py")


def install(folder: str) -> None:
    """Record every thread of this process, if it is one of the three that a frame crosses."""
    arguments = sys.orig_argv
    role = next((role for role in ROLES if role in arguments[arguments.index("edged") + 1 :][:1]), None)
    if role is None:
        return
    root = os.path.join(os.getcwd(), "edged") + os.sep
    file = open(os.path.join(folder, f"{role}-{time.monotonic_ns()}.jsonl"), "w", buffering=1)  # noqa: SIM115
    sys.setprofile(Recorder(root, file))
    threading.setprofile(lambda *arguments: sys.setprofile(Recorder(root, file)))


if (wanted := os.environ.get("FRAME_PATH")) and "edged" in sys.orig_argv:
    install(wanted)
