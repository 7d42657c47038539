"""A graph becomes a plan: kernels with their arguments, layouts and places in memory, for one device and batch.

Nothing here touches a device: a plan is a value.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from edged.engine.device import Device
from edged.engine.launch import Images, Launch
from edged.engine.layout import NO_HALO, Halo, Tensor, image_shape
from edged.engine.memory import Arena, arrange, lifetimes
from edged.engine.variants import VARIANTS
from edged.engine.variants.prepare import prepare
from edged.engine.variants.variant import AnyVariant, Site
from edged.errors import ConfigError, ModelError
from edged.model.graph import Conv, Flatten, Graph, Operator
from edged.model.package import Input
from edged.model.passes import as_convolution

CONVOLUTIONS = ("auto", *(variant.name.removeprefix("conv_") for variant in VARIANTS[Conv]))

Tensors = Mapping[str, Tensor]


@dataclass(frozen=True, eq=False)
class Plan:
    """`launches` turn `images` into `output`; every tensor between them has its place in `arena`."""

    images: Images
    launches: tuple[Launch, ...]
    output: Tensor
    arena: Arena


def make_plan(graph: Graph, wanted: Input, device: Device, batch: int = 1, conv: str = "auto") -> Plan:
    """Lower `graph`, as `passes.simplify` left it, for jobs of up to `batch` frames.

    `conv` names the variant of the convolutions, or leaves it to the device (auto). Raises ModelError for a
    network whose output is not one vector a frame, ConfigError for an unknown `conv`.
    """
    _check(graph, conv)
    operators, output = _lowered(graph)
    tensors = _tensors(graph, operators, batch, _channel_block(device, conv))
    variants = [_variant(_site(operator, tensors, device), conv) for operator in operators]
    tensors = _with_halos(tensors, operators, variants, device)
    images = Images(batch, wanted.height, wanted.width)
    launches = [prepare(images, wanted, tensors[graph.input], device)]
    for operator, variant in zip(operators, variants, strict=True):
        site = _site(operator, tensors, device)
        launches += variant.launches(site, variant.parameters(site)[0])
    return Plan(images, tuple(launches), tensors[output], arrange(lifetimes(launches), device.alignment))


def _check(graph: Graph, conv: str) -> None:
    if conv not in CONVOLUTIONS:
        raise ConfigError(f"no convolution variant is called {conv!r}; there are: {', '.join(CONVOLUTIONS)}")
    if image_shape(graph.shapes[graph.output])[1:] != (1, 1):
        raise ModelError(
            f"{graph.name}: the output {graph.output} has the shape {graph.shapes[graph.output]}; "
            "expected one score a class, (classes,): is this a classification network?"
        )


def _lowered(graph: Graph) -> tuple[tuple[Operator, ...], str]:
    """The operators that kernels must compute, and the tensor that is the output.

    To flatten single pixels changes nothing: the features are the image's channels.
    """
    same: dict[str, str] = {}
    operators: list[Operator] = []
    for operator in graph.operators:
        inputs = tuple(same.get(name, name) for name in operator.inputs)
        if isinstance(operator, Flatten) and image_shape(graph.shapes[inputs[0]])[1:] == (1, 1):
            same[operator.output] = inputs[0]
        else:
            operators.append(as_convolution(replace(operator, inputs=inputs)))
    return tuple(operators), same.get(graph.output, graph.output)


def _channel_block(device: Device, conv: str) -> int:
    """Channels that lie side by side: what one instruction of the device works on."""
    if conv == "naive":
        return 1
    if device.kind == "cpu":
        return 16 if device.vector_width >= 16 else 8 if device.vector_width >= 8 else 4
    return 4


def _tensors(graph: Graph, operators: Sequence[Operator], batch: int, block: int) -> Tensors:
    """Without halos. Convolutions alone read the three channels of the input without padding them to a block."""
    readers = [operator for operator in operators if graph.input in operator.inputs]
    planar = all(isinstance(reader, Conv) for reader in readers)
    tensors = {
        name: Tensor(name, batch, *image_shape(graph.shapes[name]), block=block)
        for name in (graph.input, *(operator.output for operator in operators))
    }
    tensors[graph.input] = replace(tensors[graph.input], block=1 if planar else block)
    return tensors


def _site(operator: Operator, tensors: Tensors, device: Device) -> Site[Operator]:
    inputs = tuple(tensors[name] for name in operator.inputs)
    return Site(operator, inputs, tensors[operator.output], device)


def _variant(site: Site[Operator], conv: str) -> AnyVariant:
    """The variant that is asked for, where it is able; a CPU's tile in registers, a GPU's many work-items."""
    fitting = [variant for variant in VARIANTS[type(site.operator)] if variant.can_compute(site)]
    wanted = conv if conv != "auto" else "vector" if site.device.kind == "cpu" else "general"
    named = [variant for variant in fitting if variant.name == f"conv_{wanted}"]
    return (named or fitting)[0]


def _with_halos(
    tensors: Tensors, operators: Sequence[Operator], variants: Sequence[AnyVariant], device: Device
) -> Tensors:
    """Each tensor with the zeros that all of its readers want around it."""
    halos: dict[str, Halo] = {}
    for operator, variant in zip(operators, variants, strict=True):
        source = operator.inputs[0]
        halos[source] = halos.get(source, NO_HALO) | variant.reach(_site(operator, tensors, device))
    return {name: replace(tensor, halo=halos.get(name, NO_HALO)) for name, tensor in tensors.items()}
