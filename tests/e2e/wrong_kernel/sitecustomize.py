"""Lets a worker compile a kernel that has a fault: EDGED_TEST_WRONG_KERNEL holds the three parts of a `Change`.

With EDGED_TEST_FAULTY_PROOF its comparison with the reference fails, by that text, or ends the process: SIGABRT.
Python imports this at its start where the folder is on PYTHONPATH.
"""

import json
import os
import sys
from contextlib import ExitStack
from typing import NoReturn

until_the_end = ExitStack()
is_worker = not {"worker", "edged.doctor.trial"}.isdisjoint(sys.orig_argv)

if is_worker and "EDGED_TEST_WRONG_KERNEL" in os.environ:
    from tests.engine.wrong_kernels import wrong_kernel

    until_the_end.enter_context(wrong_kernel(tuple(json.loads(os.environ["EDGED_TEST_WRONG_KERNEL"]))))

if is_worker and "EDGED_TEST_FAULTY_PROOF" in os.environ:
    from edged.engine import proving

    def faulty(*_: object, **__: object) -> NoReturn:
        if os.environ["EDGED_TEST_FAULTY_PROOF"] == "SIGABRT":
            os.abort()
        raise ValueError(os.environ["EDGED_TEST_FAULTY_PROOF"])

    proving.examine = faulty
