"""Lets a worker compile a kernel that has a fault: EDGED_TEST_WRONG_KERNEL holds the three parts of a `Change`.

Python imports this at its start where the folder is on PYTHONPATH.
"""

import json
import os
import sys
from contextlib import ExitStack

until_the_end = ExitStack()

if "worker" in sys.orig_argv and "EDGED_TEST_WRONG_KERNEL" in os.environ:
    from tests.engine.wrong_kernels import wrong_kernel

    until_the_end.enter_context(wrong_kernel(tuple(json.loads(os.environ["EDGED_TEST_WRONG_KERNEL"]))))
