"""Limit a worker on the CPU to so many threads, so that several workers, or other programs, can share it."""

import os

OF_NUMPY = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")  # of libraries that it may multiply with
# the first three are read by PoCL before version 5 and since, on any device
COUNTS = ("POCL_MAX_PTHREAD_COUNT", "POCL_CPU_MAX_CU_COUNT", "POCL_MAX_COMPUTE_UNITS", *OF_NUMPY)
PINNED = "POCL_AFFINITY"  # would put the first thread of each worker on the first core
# PoCL's drivers: its usual one, and that which computes in the thread that submits, so that none is woken
DRIVER, DRIVER_OF_ALL, DRIVER_OF_ONE = "POCL_DEVICES", "pthread", "basic"


def multiply_in_one_thread() -> None:
    """Let NumPy multiply in one thread, unless the user has chosen. Call it before NumPy is loaded.

    The products of a network, or of a head, are small: several threads take no less time, and ten times as long
    where other processes take their turns, as OpenBLAS waits for the last of its threads.
    """
    for count in OF_NUMPY:
        os.environ.setdefault(count, "1")


def limit_threads(threads: int | None) -> None:
    """Limit the threads; None: no limit.

    One thread of PoCL is the one that submits: a job is done when `submit` returns. A driver that the user has
    chosen stays. Call it before NumPy and OpenCL are loaded, which read the environment once.
    """
    if threads is None:
        return
    os.environ.update(dict.fromkeys(COUNTS, str(threads)))
    os.environ[PINNED] = "0"
    if threads == 1:
        os.environ.setdefault(DRIVER, DRIVER_OF_ONE)
