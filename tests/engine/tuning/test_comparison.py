"""Whole networks in turn."""

from pathlib import Path

from edged.engine.device import Device
from edged.engine.runtime import Runtime
from edged.engine.selection import Rules
from edged.engine.tuning.comparison import error_of, times_in_turn
from edged.model.model_part import ModelPart
from edged.model.passes import simplify
from tests.engine.networks import RGB, random_images, small_network
from tests.system.scripted_machine import ScriptedMachine


def test_each_plan_is_timed_as_often_and_compared_with_the_reference(
    device: Device, programs_directory: Path
) -> None:
    graph, images = simplify(small_network()), random_images(RGB)
    runtimes = [
        Runtime(ModelPart(graph, RGB), device, chooser=Rules(conv), cache=programs_directory)
        for conv in ("auto", "naive")
    ]
    machine = ScriptedMachine("one-core", "disturbed", "two-core")
    (one, other), account = times_in_turn(runtimes, images, machine)

    assert account.state == "two-core"
    assert len(one) == account.runs["two-core"] == machine.turns - 2  # without those of other states
    assert len(one) == len(other) > 0
    assert (one > 0).all()
    assert all(error_of(runtime, graph, RGB, images) < 1e-4 for runtime in runtimes)
