"""What `edged tune` shows while it works: one line that changes on a terminal, a line a shape elsewhere."""

import shutil
import sys
from typing import TextIO

from edged.engine.tuning.tuner import TuningProgress

BAR = 20


class ProgressLine:
    """Shows to `stream` where the tuner stands."""

    def __init__(self, stream: TextIO = sys.stderr) -> None:
        self._stream = stream
        self._is_terminal = stream.isatty()

    def show(self, progress: TuningProgress) -> None:
        """After each try, and after each shape. A refusal keeps a line of its own."""
        refusal = progress.refused
        if refusal:
            line = f"refused for {progress.shape}: {refusal}: {refusal.reason}, {refusal.detail}"
            self._write(f"\r{line}\n" if self._is_terminal else f"{line}\n")
        if self._is_terminal:
            width = shutil.get_terminal_size().columns - 1
            self._write(f"\r{as_line(progress)[:width]:{width}}")
        elif progress.choice is None:
            self._write(f"{as_line(progress)}\n")

    def end(self) -> None:
        """Leave the line as it is."""
        if self._is_terminal:
            self._write("\n")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def as_line(progress: TuningProgress) -> str:
    """[####----------------] 3 of 25 shapes, 21 % of the frame; gain 4.2 %; Conv 64×30×30 → …: conv_vector …"""
    share, gain = progress.done_s / progress.frame_s, progress.gained_s / progress.frame_s
    bar = "#" * round(share * BAR)
    done = f"{progress.shapes_done} of {progress.shapes} shapes, {share * 100:.0f} % of the frame"
    now = f"{progress.shape}: {progress.choice}" if progress.choice else f"{progress.shape}"
    return f"[{bar:-<{BAR}}] {done}; gain {gain * 100:.1f} %; {now}"
