"""Hold a worker on the CPU to so many threads, so that several of them share it, or leave some of it to others."""

import os

# Read by PoCL before 5 and since, by PoCL of any device, and by the libraries that NumPy may multiply with.
COUNTS = (
    "POCL_MAX_PTHREAD_COUNT",
    "POCL_CPU_MAX_CU_COUNT",
    "POCL_MAX_COMPUTE_UNITS",
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
)
PINNED = "POCL_AFFINITY"  # would put the first thread of each worker on the first core


def limit_threads(threads: int | None) -> None:
    """Call it before NumPy and OpenCL are loaded, which look into the environment once. None: all threads."""
    if threads is not None:
        os.environ.update(dict.fromkeys(COUNTS, str(threads)))
        os.environ[PINNED] = "0"
