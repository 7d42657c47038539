"""Why a process that loads drivers has ended: by a signal, where one of them has crashed."""

import subprocess

from edged.hub.children.child import describe_exit


def why_ended(done: "subprocess.CompletedProcess[str]") -> str:
    """Return how it ended, and the last line that it wrote on standard error."""
    last = "".join(done.stderr.strip().splitlines()[-1:])
    crash = " (a driver crashes)" if done.returncode < 0 else ""
    return f"its process {describe_exit(done.returncode)}{crash}{f': {last}' if last else ''}"
