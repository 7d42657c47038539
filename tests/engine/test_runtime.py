"""Whole networks on a device."""

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from edged import config
from edged.engine import executable
from edged.engine.device import Device
from edged.engine.executable import shares_memory
from edged.engine.job import PendingDeviceJob
from edged.engine.opencl import cl
from edged.engine.runtime import Runtime
from edged.engine.selection import CONVOLUTIONS, Rules
from edged.engine.transfer import CopyOut
from edged.errors import DeviceError
from edged.model.model_part import ModelPart
from edged.model.package import load_model
from edged.model.resnet import random_resnet
from tests.engine.lab import Lab
from tests.engine.networks import RGB, assert_equals_reference, random_images, small_network

SMALL = small_network()


@pytest.mark.parametrize("convolution", CONVOLUTIONS)
def test_every_variant_runs_every_operator(device: Device, programs_directory: Path, convolution: str) -> None:
    runtime = Runtime(ModelPart(SMALL, RGB), device, batch=2, cache=programs_directory, chooser=Rules(convolution))

    assert_equals_reference(runtime, SMALL, RGB, frames=2)


@pytest.mark.deep
@pytest.mark.parametrize(("depth", "width", "height", "batch"), [(18, 64, 48, 4), (50, 120, 120, 1)])
def test_a_resnet_of_any_size(
    network_device: Device, programs_directory: Path, depth: int, width: int, height: int, batch: int
) -> None:
    graph, model_input = random_resnet(depth, width, height), replace(RGB, width=width, height=height)
    runtime = Runtime(ModelPart(graph, model_input), network_device, batch=batch, cache=programs_directory)

    assert_equals_reference(runtime, graph, model_input)


@pytest.mark.deep
@pytest.mark.parametrize("file", ["resnet20_cifar10", "resnet8_mlperf_tiny"])
def test_a_trained_network(network_device: Device, programs_directory: Path, shared_data: Path, file: str) -> None:
    model = load_model(config.ModelConfig(path=shared_data / "models" / f"{file}.onnx", size=32))
    runtime = Runtime(ModelPart(model.graph, model.input), network_device, cache=programs_directory)

    assert_equals_reference(runtime, model.graph, model.input)


@pytest.fixture(scope="module", params=["shared", "mapped", "copied"])
def runtime(request: pytest.FixtureRequest, device: Device, programs_directory: Path) -> Runtime:
    """The small network, for jobs of up to three frames. Each way of transfer that a device has is right on it."""
    device = replace(device, unified_memory=request.param != "copied")
    with pytest.MonkeyPatch.context() as monkeypatch:
        if request.param == "mapped":
            monkeypatch.setattr(executable, "shares_memory", lambda device, context: False)
        return Runtime(ModelPart(SMALL, RGB), device, batch=3, cache=programs_directory)


def test_a_job_may_be_smaller_than_the_batch(runtime: Runtime) -> None:
    for frames in (3, 1, 2):
        assert_equals_reference(runtime, SMALL, RGB, frames)


def test_jobs_are_answered_in_any_order_and_by_any_thread(runtime: Runtime) -> None:
    jobs = [random_images(RGB, frames) + np.uint8(frames) for frames in (1, 2, 3, 1, 2)]
    alone = [runtime.submit(images).wait().outputs for images in jobs]

    pending = [runtime.submit(images) for images in jobs]
    with ThreadPoolExecutor() as threads:
        together = list(threads.map(lambda one: one.wait().outputs, reversed(pending)))

    for expected, found in zip(reversed(alone), together, strict=True):
        assert np.array_equal(expected, found)


def test_a_result_tells_what_its_stages_and_kernels_took(runtime: Runtime) -> None:
    result = runtime.submit(random_images(RGB)).wait()

    assert len(result.kernels) == runtime.kernels
    assert min(result.upload_s, result.download_s) >= 0
    assert 0 < max(kernel.seconds for kernel in result.kernels) <= result.forward_s


def test_a_cpu_that_shares_its_memory_transfers_without_commands(lab: Lab, programs_directory: Path) -> None:
    runtime = Runtime(ModelPart(SMALL, RGB), lab.device, cache=programs_directory)
    images = random_images(RGB)

    job = runtime.submit(images)._job

    assert (job.upload.command is None) == (job.download.command is None) == shares_memory(lab.device, lab.context)
    result = job.result()
    assert result.on_device.upload.seconds >= 0
    assert result.upload_s > 0
    if "Portable Computing Language" in lab.device.platform:
        assert shares_memory(lab.device, lab.context)


def test_memory_stays_until_a_job_is_computed_for_which_nobody_waits(
    network_device: Device, programs_directory: Path
) -> None:
    runtime = Runtime(ModelPart(SMALL, RGB), network_device, cache=programs_directory)
    gate = cl.UserEvent(runtime._compute.context)
    cl.enqueue_marker(runtime._compute, wait_for=[gate])
    event = runtime.submit(random_images(RGB))._job.kernels[-1][1]
    complete = cl.command_execution_status.COMPLETE
    opens = weakref.finalize(runtime._executable, gate.set_status, complete)  # called before those of `Executable`

    assert event.command_execution_status != complete
    del runtime
    gc.collect()

    assert not opens.alive
    assert event.command_execution_status == complete


def test_weights_that_are_not_a_number_are_not_hidden(device: Device, programs_directory: Path) -> None:
    graph = small_network()
    graph.operators[0].weight[3, 0, 0, 0] = np.nan  # type: ignore[attr-defined]

    outputs = (
        Runtime(ModelPart(graph, RGB), device, cache=programs_directory).submit(random_images(RGB)).wait().outputs
    )

    assert np.isnan(outputs).any()


def test_a_kernel_that_fails_is_named(lab: Lab, runtime: Runtime) -> None:
    job = runtime.submit(random_images(RGB))._job
    broken = cl.UserEvent(lab.context)
    broken.set_status(-5)
    kernels = tuple((step, broken if index == 3 else event) for index, (step, event) in enumerate(job.kernels))

    with pytest.raises(DeviceError, match=r"failed while computing conv_\w+ of up: .*`edged devices`"):
        PendingDeviceJob(
            replace(job, kernels=kernels, download=CopyOut(job.download.wait(), broken)), "a device"
        ).wait()


def test_images_of_another_shape_are_refused(runtime: Runtime) -> None:
    for images in (random_images(RGB, 4), random_images(replace(RGB, width=30)), random_images(RGB).astype(float)):
        with pytest.raises(ValueError, match="expected uint8 1…3"):
            runtime.submit(images)


def test_a_closed_runtime_says_so_and_a_job_that_was_under_way_is_answered(
    device: Device, programs_directory: Path
) -> None:
    runtime = Runtime(ModelPart(SMALL, RGB), device, cache=programs_directory)
    under_way = runtime.submit(random_images(RGB))

    runtime.close()

    assert np.isfinite(under_way.wait().outputs).all()
    with pytest.raises(DeviceError, match="was closed"):
        runtime.submit(random_images(RGB))
