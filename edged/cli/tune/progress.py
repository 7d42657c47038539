"""The progress of `edged tune`: one status line on a terminal, a line for each layer shape elsewhere."""

import sys

from edged.cli.terminal import StatusLine
from edged.engine.tuning.tuner import TuningProgress

BAR = 20


class TuningLine:
    """Shows the progress of the tuner on standard error."""

    def __init__(self) -> None:
        self._line = StatusLine()
        self._is_terminal = sys.stderr.isatty()

    def show(self, progress: TuningProgress) -> None:
        """Show the progress after a try or a shape; a refused variant keeps a line of its own."""
        if refusal := progress.refused:
            reason = f"{refusal.reason}, {refusal.detail}"
            self._line.keep(f"refused for {progress.shape}: {refusal}: {reason}")
        if self._is_terminal:
            self._line.show(as_line(progress))
        elif progress.choice is None:
            self._line.keep(as_line(progress))

    def end(self) -> None:
        """Leave the line as it is."""
        self._line.end()


def as_line(progress: TuningProgress) -> str:
    """Format the progress: [####------] 3 of 25 shapes, 21 % of the frame; gain 4.2 %; Conv 64×30×30 → …: …"""
    share, gain = progress.done_s / progress.frame_s, progress.gained_s / progress.frame_s
    bar = "#" * round(share * BAR)
    done = f"{progress.shapes_done} of {progress.shapes} shapes, {share * 100:.0f} % of the frame"
    now = f"{progress.shape}: {progress.choice}" if progress.choice else f"{progress.shape}"
    return f"[{bar:-<{BAR}}] {done}; gain {gain * 100:.1f} %; {now}"
