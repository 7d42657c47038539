"""What Ctrl-C does while a command starts.

Python raises KeyboardInterrupt wherever it is: in the middle of an import that is a traceback, and native code may
swallow it, as pydantic's does. So the kernel ends the process, until it has something to end in order.
"""

import os
import signal

from edged.system.process_end import PARENT


def end_if_interrupted() -> None:
    """Let SIGINT end this process at once. Under a hub it is ignored: it is for the hub, which stops its children.

    One that is ignored already, as in a shell's background job, stays so.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_IGN if PARENT in os.environ else signal.SIG_DFL)


def raise_if_interrupted() -> None:
    """Let SIGINT raise KeyboardInterrupt again."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
