"""PoCL with one thread: another of its drivers, which computes in the thread that submits."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from edged.engine.device import POCL, list_devices

PROGRAM = """
import json, sys
from edged.runtime.threads import limit_threads
limit_threads(int(sys.argv[1]))
from edged.engine.device import find_device, open_device
from edged.engine.runtime import Runtime
from edged.model.model_part import ModelPart
from tests.worker.networks import INPUT, dense_network, pictures
device = find_device("portable")
runtime = Runtime(ModelPart(dense_network(), INPUT), device)
pending = runtime.submit(pictures(1))
print(json.dumps({
    "computed": pending.is_computed,
    "name": device.name,
    "driver": open_device(device).name,
    "units": device.compute_units,
    "outputs": pending.wait().outputs.tolist(),
}))
"""

pytestmark = pytest.mark.skipif(
    all(device.platform != POCL for device in list_devices()), reason="PoCL is not installed"
)


def computed_with(threads: int, **environment: str) -> dict[str, Any]:
    command = [sys.executable, "-c", PROGRAM, str(threads)]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, timeout=300, env=os.environ | environment, check=True
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.fixture(scope="module")
def one() -> dict[str, Any]:
    return computed_with(1)


@pytest.mark.deep
def test_a_job_is_done_when_it_was_submitted_and_no_thread_was_woken(one: dict[str, Any]) -> None:
    assert one["computed"]
    assert one["driver"].startswith(("basic", "cpu-minimal"))


def test_the_device_has_the_same_name_as_with_more_threads_and_gives_the_same_answer(one: dict[str, Any]) -> None:
    two = computed_with(2)

    assert one["name"] == two["name"] == two["driver"]
    assert (one["units"], one["outputs"]) == (1, two["outputs"])


def test_a_driver_that_the_user_has_chosen_stays() -> None:
    chosen = computed_with(1, POCL_DEVICES="pthread")

    assert chosen["driver"] == chosen["name"]
    assert chosen["units"] == 1
