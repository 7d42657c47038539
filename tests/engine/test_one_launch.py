"""A network in one launch answers as kernel by kernel, and is launched in the form that is faster."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from edged.config import ModelConfig
from edged.engine import composition, executable, one_launch
from edged.engine.composition import compose, compositions, pause_on
from edged.engine.device import Device
from edged.engine.host_step import HostStep
from edged.engine.launch_cost import packed_bytes
from edged.engine.one_launch import COMPARED, TRIED_EVERY, FormChoice, LaunchForm, OneLaunchStep
from edged.engine.packed import WeightBuffers, WeightPlace, weights_of
from edged.engine.planner import make_plan
from edged.engine.programs import source_of
from edged.engine.runtime import Runtime
from edged.model.cuts import cut_after, part
from edged.model.mobile_networks import mobilenet_v2
from edged.model.model_part import ModelPart, whole_model
from edged.model.package import Model, load_model
from edged.model.passes import simplify
from edged.model.resnet import random_resnet
from tests.engine.networks import RGB, random_images, small_network
from tests.engine.records import BOARD
from tests.model.onnx_files import Network

SMALL = small_network()
NO_WAITS = "#define WAITS 0\n#define SHARES 16\n"
GROUPS = [1, 2, 7]  # one computes everything; more of them than this machine has processors

Seconds = dict[LaunchForm, float]

SETTLED = 4 * COMPARED  # jobs: both forms in turn, then once more from the other's side
ONE_LAUNCH_IS_FASTER = {LaunchForm.BY_LAYER: 2.0, LaunchForm.ONE_LAUNCH: 1.0}
ONE_LAUNCH_IS_SLOWER = {LaunchForm.BY_LAYER: 2.0, LaunchForm.ONE_LAUNCH: 3.0}


@pytest.fixture
def cpu(device: Device) -> Device:
    if device.kind != "cpu":
        pytest.skip("networks are composed for CPUs alone")
    return device


@pytest.fixture
def network_cpu(network_device: Device) -> Device:
    if network_device.kind != "cpu":
        pytest.skip("networks are composed for CPUs alone")
    return network_device


def assert_same_in_one_launch(runtime: Runtime, images: np.ndarray, repetitions: int = 1, groups: int = 2) -> None:
    by_layer = runtime.submit(images, by_layer=True).wait().outputs
    forward = tuple(
        tuple(replace(step, groups=groups) if isinstance(step, OneLaunchStep) else step for step in steps)
        for steps in runtime._composer.forward()
    )
    assert any(isinstance(step, OneLaunchStep) for step in forward[0])
    for _ in range(repetitions):
        assert np.array_equal(runtime._submit(images, forward).wait().outputs, by_layer)


@pytest.mark.parametrize(
    ("version", "has_assembly"), [("3.1", True), ("6.0+debian", False), ("6.0", False), ("7.1+debian", True)]
)
def test_pocl_has_assembly_but_in_the_versions_that_end_their_process_at_it(
    version: str, has_assembly: bool
) -> None:
    device = replace(BOARD, platform="Portable Computing Language", kind="cpu", driver=version)
    assert ("__asm__" in pause_on(device)) is has_assembly


@pytest.mark.parametrize("frames", [1, 2, 3])
def test_the_answer_is_the_same_for_any_number_of_frames(
    cpu: Device, programs_directory: Path, frames: int
) -> None:
    runtime = Runtime(ModelPart(SMALL, RGB), cpu, batch=3, cache=programs_directory)
    assert_same_in_one_launch(runtime, random_images(RGB, frames))


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize(
    "waits",
    [pytest.param("", id="waits"), pytest.param(NO_WAITS, id="leaves at once", marks=pytest.mark.deep)],
)
def test_the_answer_is_the_same_whoever_leaves(
    cpu: Device, programs_directory: Path, monkeypatch: pytest.MonkeyPatch, groups: int, waits: str
) -> None:
    monkeypatch.setattr(one_launch, "pause_on", lambda device: waits)
    runtime = Runtime(ModelPart(SMALL, RGB), cpu, batch=2, cache=programs_directory)
    assert_same_in_one_launch(runtime, random_images(RGB, 2), repetitions=50, groups=groups)


@pytest.mark.parametrize("fetched", [0, 10**9], ids=["planes", "columns"])
def test_the_answer_is_the_same_for_parts_of_planes_and_of_columns(
    cpu: Device, programs_directory: Path, monkeypatch: pytest.MonkeyPatch, fetched: int
) -> None:
    monkeypatch.setattr(composition, "FETCHED", fetched)
    many_parts = replace(cpu, compute_units=5)  # some layers have fewer columns or planes

    runtime = Runtime(ModelPart(SMALL, RGB), many_parts, batch=2, cache=programs_directory)

    for groups in GROUPS:
        assert_same_in_one_launch(runtime, random_images(RGB, 2), groups=groups)


def test_layers_of_many_weights_are_divided_by_planes_and_those_of_many_pixels_by_columns(
    network_cpu: Device,
) -> None:
    plan = make_plan(ModelPart(SMALL, RGB), network_cpu, 1)
    places = {each: WeightPlace(0, 0, packed_bytes(each)) for each in weights_of(*plan.launches)}

    (parts,) = compositions(plan, network_cpu, places)

    by_columns = {kernel.launch.kernel: kernel.by_columns for kernel in parts.kernels}
    assert by_columns["prepare"]
    assert not by_columns["dense"]


def test_jobs_of_other_numbers_of_frames_may_follow(
    cpu: Device, programs_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = Runtime(ModelPart(SMALL, RGB), cpu, batch=3, cache=programs_directory)
    images = {frames: random_images(RGB, frames) for frames in (1, 2, 3)}
    by_layer = {frames: runtime.submit(each).wait().outputs for frames, each in images.items()}
    assert runtime.compose()
    monkeypatch.setattr(runtime._forms, "next", lambda frames: LaunchForm.ONE_LAUNCH)

    for frames in (1, 1, 3, 3, 3, 2, 1, 1, 2):  # two slots in turn
        assert np.array_equal(runtime.submit(images[frames]).wait().outputs, by_layer[frames])


def test_waits_that_are_given_up_are_counted(
    cpu: Device, programs_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(one_launch, "pause_on", lambda device: NO_WAITS)  # a group that would wait leaves at once
    runtime = Runtime(ModelPart(SMALL, RGB), cpu, batch=2, cache=programs_directory)
    assert runtime.one_launches() == (0, 0)
    assert runtime.compose()
    monkeypatch.setattr(runtime._forms, "next", lambda frames: LaunchForm.ONE_LAUNCH)
    for _ in range(50):
        runtime.submit(random_images(RGB, 2)).wait()

    jobs, given_up = runtime.one_launches()

    assert jobs == 50
    if cpu.compute_units == 1:
        assert given_up == 0  # nobody to wait for
    assert runtime.one_launches() == (jobs, given_up)


def test_an_operator_on_the_host_divides_a_network_into_two_launches(
    cpu: Device, programs_directory: Path, tmp_path: Path
) -> None:
    network = Network(["N", 3, 12, 10])
    network.add("Conv", network.normal(6, 3, 3, 3, std=0.2))
    network.add("Conv", network.normal(6, 6, 3, 3, std=0.2))
    network.add("Sin")
    network.add("Conv", network.normal(6, 6, 3, 3, std=0.2))
    network.add("GlobalAveragePool")
    model = load_model(ModelConfig(path=network.save(tmp_path / "network.onnx")))
    runtime = Runtime(ModelPart(model.graph, model.input), cpu, cache=programs_directory)
    ((first, host, second),) = {tuple(map(type, steps)) for steps in runtime._composer.forward()}
    assert (first, host, second) == (OneLaunchStep, HostStep, OneLaunchStep)
    assert_same_in_one_launch(runtime, random_images(model.input))


def test_a_long_network_is_divided_into_launches_of_equal_length(
    cpu: Device, programs_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(composition, "MOST_LAYERS", 5)
    runtime = Runtime(ModelPart(SMALL, RGB), cpu, batch=2, cache=programs_directory)

    lengths = [len(each.kernels) for each in runtime._composer._compositions]

    assert sum(lengths) == runtime.kernels
    assert len(lengths) == -(-runtime.kernels // 5) > 1
    assert max(lengths) - min(lengths) <= 1
    assert_same_in_one_launch(runtime, random_images(RGB, 2))


@pytest.mark.deep
def test_weights_may_need_several_buffers(
    cpu: Device, programs_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        executable, "WeightBuffers", lambda context, packed, _: WeightBuffers(context, packed, 30_000)
    )
    runtime = Runtime(ModelPart(SMALL, RGB), cpu, cache=programs_directory)
    weights = runtime._executable.weights
    assert weights
    assert len(weights.buffers) > 2
    assert_same_in_one_launch(runtime, random_images(RGB))


def test_weights_that_are_kept_in_a_file_give_the_same(
    cpu: Device, tmp_path: Path, programs_directory: Path
) -> None:
    (tmp_path / "programs").symlink_to(programs_directory)
    of_memory = Runtime(ModelPart(SMALL, RGB), cpu, cache=programs_directory)
    of_file = Runtime(whole_model(Model("small", "some model", (), SMALL, RGB)), cpu, cache=tmp_path / "programs")
    assert list((tmp_path / "weights").iterdir())
    images = random_images(RGB)
    expected, found = (runtime.submit(images).wait().outputs for runtime in (of_memory, of_file))
    assert np.array_equal(found, expected)
    assert_same_in_one_launch(of_file, images)


@pytest.mark.deep
def test_a_part_behind_a_cut_is_composed_too(network_cpu: Device, programs_directory: Path) -> None:
    graph = simplify(random_resnet(18, 32, 32))
    behind = part(graph, cut_after(graph, "stage1"), None)
    runtime = Runtime(ModelPart(behind, None), network_cpu, batch=2, cache=programs_directory)
    assert runtime.compose()


def test_other_devices_than_cpus_compose_nothing(device: Device) -> None:
    gpu = replace(device, kind="gpu")
    assert compositions(make_plan(ModelPart(SMALL, RGB), gpu, 1), gpu, {}) == ()


def test_kernels_of_one_kind_and_shape_are_one_function(network_cpu: Device) -> None:
    graph = mobilenet_v2(64, 64)
    plan = make_plan(ModelPart(graph, replace(RGB, width=64, height=64)), network_cpu, 1)
    places = dict.fromkeys(weights_of(*plan.launches), WeightPlace(0, 0, 0))
    (composition,) = compositions(plan, network_cpu, places)
    source = compose(composition.kernels, buffers=1)
    different = {(kernel.launch.kernel, kernel.launch.options) for kernel in composition.kernels}
    assert len(different) < len(composition.kernels)
    assert source.count("void launch_") == len(different)


@pytest.mark.deep
def test_the_kernels_of_one_launch_have_no_times_of_their_own(
    network_cpu: Device, programs_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = Runtime(ModelPart(SMALL, RGB), network_cpu, cache=programs_directory)
    images = random_images(RGB)
    assert runtime.submit(images).wait().kernels
    assert runtime.compose()
    monkeypatch.setattr(runtime._forms, "next", lambda frames: LaunchForm.ONE_LAUNCH)

    result = runtime.submit(images).wait()

    assert len(result.launched) == 1
    assert result.kernels == ()  # nobody can tell the kernels apart
    assert len(runtime.submit(images, by_layer=True).wait().kernels) == runtime.kernels


def test_a_composition_that_answers_otherwise_is_not_used(
    network_cpu: Device,
    programs_directory: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def without_relu(kernel: str) -> str:
        return source_of(kernel).replace("(((v) < 0) ? 0 : (v))", "(v)")

    runtime = Runtime(ModelPart(SMALL, RGB), network_cpu, cache=programs_directory)
    monkeypatch.setattr(composition, "source_of", without_relu)

    assert not runtime.compose()
    assert "answers otherwise in one launch" in caplog.text
    assert runtime.submit(random_images(RGB)).wait().kernels


def taken(choice: FormChoice, jobs: int, seconds: Seconds, frames: int = 1) -> list[LaunchForm]:
    """Return the forms of the next jobs, which take these seconds."""
    forms = []
    for _ in range(jobs):
        forms.append(choice.next(frames))
        choice.add(forms[-1], frames, seconds[forms[-1]])
    return forms


def test_the_faster_form_is_taken_and_the_other_tried_from_time_to_time() -> None:
    choice = FormChoice()
    taken(choice, SETTLED, ONE_LAUNCH_IS_FASTER)
    forms = taken(choice, 4 * TRIED_EVERY, ONE_LAUNCH_IS_FASTER)
    assert forms.count(LaunchForm.BY_LAYER) == 4


def test_a_form_that_is_not_faster_is_not_taken() -> None:
    choice = FormChoice()
    forms = taken(choice, SETTLED + 4 * TRIED_EVERY, ONE_LAUNCH_IS_SLOWER)
    assert forms.count(LaunchForm.ONE_LAUNCH) <= COMPARED + 4


def test_the_choice_follows_the_times() -> None:
    choice = FormChoice()
    taken(choice, SETTLED, ONE_LAUNCH_IS_FASTER)
    taken(choice, COMPARED * TRIED_EVERY + SETTLED, ONE_LAUNCH_IS_SLOWER)
    assert taken(choice, TRIED_EVERY, ONE_LAUNCH_IS_SLOWER).count(LaunchForm.ONE_LAUNCH) == 1


def test_a_machine_that_becomes_slower_as_a_whole_changes_nothing() -> None:
    choice = FormChoice()
    taken(choice, SETTLED, ONE_LAUNCH_IS_FASTER)
    twice_as_slow = {form: 2 * seconds for form, seconds in ONE_LAUNCH_IS_FASTER.items()}
    for seconds in (twice_as_slow, ONE_LAUNCH_IS_FASTER) * 3:
        assert taken(choice, TRIED_EVERY, seconds).count(LaunchForm.BY_LAYER) == 1


def test_numbers_of_frames_are_compared_with_themselves() -> None:
    choice = FormChoice()
    taken(choice, SETTLED, ONE_LAUNCH_IS_FASTER, frames=1)
    taken(choice, SETTLED, ONE_LAUNCH_IS_SLOWER, frames=8)
    assert taken(choice, TRIED_EVERY, ONE_LAUNCH_IS_SLOWER, frames=8).count(LaunchForm.BY_LAYER) >= TRIED_EVERY - 1
    assert taken(choice, TRIED_EVERY, ONE_LAUNCH_IS_FASTER, frames=1).count(LaunchForm.BY_LAYER) == 1
