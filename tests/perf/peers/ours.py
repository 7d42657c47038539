"""edged itself. It takes uint8 images and prepares them on the device, which the peers are spared."""

from typing import Any

from edged.engine.device import find_device
from edged.engine.runtime import Runtime
from tests.perf.peers.cases import Case
from tests.perf.peers.turns import Run


def prepare(case: Case, threads: int, device: str, **options: Any) -> Run:
    """`options` are those of `Runtime`. PoCL takes its threads from the environment."""
    runtime = Runtime(case.network, case.wanted, find_device(device), batch=case.batch, **options)
    return lambda: runtime.submit(case.images).wait().outputs
