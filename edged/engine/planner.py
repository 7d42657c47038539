"""Lower a graph to a plan: kernels with arguments, layouts and memory, for one device and batch.

Nothing here touches a device: a plan is a value.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from edged.config import Precision
from edged.engine.device import Device
from edged.engine.instructions import multiplies_bytes
from edged.engine.launch import HostCall, Images, PlanStep
from edged.engine.layout import NO_HALO, Element, Halo, Tensor, image_shape
from edged.engine.memory import (
    Arena,
    Shares,
    aligned,
    arrange_for,
    copies_nothing,
    find_shares,
    lifetimes,
    of_wholes,
    offset_of,
    with_equal_halos,
)
from edged.engine.selection import Choice, Chooser, Rules
from edged.engine.variants.prepare import prepare, prepare_steps
from edged.engine.variants.variant import Site
from edged.errors import ModelError
from edged.model.graph import (
    Conv,
    Flatten,
    Graph,
    OnHost,
    Operator,
    Quantize,
    QuantizedConv,
    QuantizedDense,
    Unflatten,
)
from edged.model.model_part import ModelPart
from edged.model.package import Input
from edged.model.passes import as_convolution
from edged.model.quantized_passes import has_byte_weights, step_tensors
from edged.model.reference import compute

RULES = Rules()
STORED = {"fp16": Element.FLOAT16, "bf16": Element.BFLOAT16}  # by tensors in a plan of that precision
MOST_IN_BYTE = 255
FEW_CHANNELS = 4  # of an image, in one word of the kernels that multiply several channels at a time

Tensors = Mapping[str, Tensor]


@dataclass(frozen=True, eq=False)
class Plan:
    """`launches` turn `images` into `output`; every tensor between them has its place in `arena`.

    Of a part of a network that begins behind a cut, `images` is the tensor that crosses it. `features`, which may
    be the same tensor, stays unchanged until the last launch has ended. `joined`: tensors that no launch
    writes as a whole, with those that lie in them, in their order. `prepared`: of the first launch, if it reads
    images: the input of the network, or the steps of it.
    """

    images: Images | Tensor
    launches: tuple[PlanStep, ...]
    output: Tensor
    arena: Arena
    features: Tensor | None = None
    joined: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    prepared: Tensor | None = None


def make_plan(
    part: ModelPart,
    device: Device,
    batch: int = 1,
    precision: Precision = "fp32",
    chooser: Chooser = RULES,
) -> Plan:
    """Lower `part`, whose graph is as `passes.simplify` left it, for jobs of up to `batch` frames.

    Raises ModelError for a network whose output is not one vector a frame; that of a part before a cut may be
    anything.
    """
    if not part.end:
        check_output(part.graph)
    network = _network_of(part)
    tensors = _laid_out(
        part, network, chooser.channel_block(device, floats_of(precision)), batch, precision, device
    )
    site = partial(_site, device=device, half_weights="fp16" in precision)
    apart = {network.first, network.output, network.features}
    tensors, choices, shares = _choose(network.operators, tensors, chooser, site, apart, device)
    joined = {each.output: each.inputs for each in network.operators if copies_nothing(each, shares, tensors)}
    computed = [operator for operator in network.operators if operator.output not in joined]
    launches = [*_preparation(part.input, network.quantize, tensors[network.first], device)]
    for operator in computed:
        launches += _steps(site(operator, tensors), choices.get(operator))
    features = tensors[network.features] if network.features else None
    arena = _arena(launches, features, tensors, shares, device)
    first = tensors[network.first]
    images = Images(batch, part.input.height, part.input.width) if part.input else first
    prepared = first if part.input else None
    return Plan(images, tuple(launches), tensors[network.output], arena, features, joined, prepared)


@dataclass(frozen=True, eq=False)
class _Network:
    """What kernels compute of a part: `operators` from the tensor `first` to `output`.

    `quantize`: the operator that makes steps of the images, which their preparation does. `features`: the tensor
    that holds those of the part.
    """

    operators: tuple[Operator, ...]
    quantize: Quantize | None
    first: str
    output: str
    features: str | None


def _network_of(part: ModelPart) -> _Network:
    graph = part.graph
    operators, same = _lowered(graph)
    quantize = _image_quantize(graph, operators) if part.input else None
    return _Network(
        tuple(operator for operator in operators if operator is not quantize),
        quantize,
        quantize.output if quantize else graph.input,
        same.get(graph.output, graph.output),
        same.get(part.features, part.features) if part.features else None,
    )


def floats_of(precision: Precision) -> Element:
    """Return the elements of a plan's tensors, but for its output and the steps of a quantized network."""
    return STORED.get(precision, Element.FLOAT32)


def _laid_out(
    part: ModelPart, network: _Network, block: int, batch: int, precision: Precision, device: Device
) -> Tensors:
    """Return the tensors of a network without halos: their blocks of channels and their elements."""
    names = (network.first, *(operator.output for operator in network.operators))
    shapes = part.graph.shapes
    tensors = {name: Tensor(name, batch, *image_shape(shapes[name]), block=block) for name in names}
    if part.input:
        tensors[network.first] = _in_small_blocks(tensors[network.first], network.operators, precision, device)
    return _with_elements(part.graph, tensors, precision, device, network.output)


def _preparation(
    model_input: Input | None, quantize: Quantize | None, target: Tensor, device: Device
) -> tuple[PlanStep, ...]:
    """Return the launch that prepares images; a part behind a cut has none."""
    if model_input is None:
        return ()
    images = Images(target.frames, model_input.height, model_input.width)
    if quantize:
        return (prepare_steps(images, model_input, target=target, device=device, quantize=quantize),)
    return (prepare(images, model_input, target=target, device=device),)


def _choose(
    operators: Sequence[Operator],
    tensors: Tensors,
    chooser: Chooser,
    site: Callable[[Operator, Tensors], Site[Any]],
    apart: Collection[str | None],
    device: Device,
) -> tuple[Tensors, dict[Operator, Choice], Shares]:
    """Choose a variant for each operator that needs kernels.

    Returns the tensors with halos, the choices, and which tensors lie in others. Those named in `apart` do not.
    """
    shares = find_shares(operators, tensors, {name for name in apart if name})
    on_device = [operator for operator in operators if not isinstance(operator, OnHost)]
    choices = {
        operator: chooser.choose(site(operator, tensors))
        for operator in on_device
        if not copies_nothing(operator, shares, tensors)
    }
    reached = _with_halos(tensors, {site(operator, tensors): choice for operator, choice in choices.items()})
    reached = with_equal_halos(reached, shares)
    shares = aligned(shares, reached, device.alignment)
    for operator in on_device:  # concatenations that must copy after all
        if operator not in choices and not copies_nothing(operator, shares, tensors):
            choices[operator] = chooser.choose(site(operator, tensors))
    return reached, choices, shares


def _steps(site: Site[Any], choice: Choice | None) -> tuple[PlanStep, ...]:
    """Return the kernels of an operator, or its computation on the host if there is no choice of kernels."""
    if choice:
        return choice.variant.launches(site, choice.parameters)
    return (HostCall(site.operator.name, site.inputs, site.output, partial(compute, site.operator)),)


def _arena(
    launches: Sequence[PlanStep], kept: Tensor | None, tensors: Tensors, shares: Shares, device: Device
) -> Arena:
    """Place the tensors; none overlaps with `kept`, which is read after the last launch."""
    spans = of_wholes(lifetimes(launches), shares, tensors)
    if kept in spans:
        spans[kept] = spans[kept][0], len(launches) - 1
    arena = arrange_for(device, spans)
    offsets = {
        name: arena.offsets[share.whole] + offset_of(tensors[name], share) for name, share in shares.items()
    }
    return replace(arena, offsets={**arena.offsets, **offsets})


def check_output(graph: Graph) -> None:
    """Raise ModelError for a network whose output is not one vector a frame."""
    if image_shape(graph.shapes[graph.output])[1:] != (1, 1):
        raise ModelError(
            f"{graph.name}: the output {graph.output} has the shape {graph.shapes[graph.output]}; "
            "expected one score a class, (classes,): is this a classification network?"
        )


def _lowered(graph: Graph) -> tuple[tuple[Operator, ...], Mapping[str, str]]:
    """Return the operators that need kernels, and the tensors that alias others, by name.

    Flattening single pixels changes nothing: the features are the image's channels.
    """
    same: dict[str, str] = {}
    operators: list[Operator] = []
    for operator in graph.operators:
        inputs = tuple(same.get(name, name) for name in operator.inputs)
        if isinstance(operator, Flatten | Unflatten) and image_shape(graph.shapes[inputs[0]])[1:] == (1, 1):
            same[operator.output] = inputs[0]
        else:
            operators.append(_as_quantized_convolution(as_convolution(replace(operator, inputs=inputs))))
    return tuple(operators), same


def _as_quantized_convolution(operator: Operator) -> Operator:
    """Return a QuantizedDense as the convolution of a single pixel; any other operator unchanged."""
    if not isinstance(operator, QuantizedDense):
        return operator
    return QuantizedConv(
        *(operator.name, operator.inputs, operator.output, operator.weight[:, :, None, None], operator.bias),
        operator.factor,
        activation=operator.activation,
        bounds=operator.bounds,
    )


def _image_quantize(graph: Graph, operators: Sequence[Operator]) -> Quantize | None:
    """Return the operator that makes steps of the images, if nothing else reads them."""
    match _readers(operators, {graph.input}):
        case [Quantize() as quantize] if quantize.output != graph.output:
            return quantize
    return None


def _in_small_blocks(image: Tensor, operators: Sequence[Operator], precision: Precision, device: Device) -> Tensor:
    """Return the prepared images in blocks of few channels where convolutions alone read them.

    A GPU loads a pixel at once; a CPU, but for its instructions of bfloat16, takes each channel by itself.
    """
    readers = _readers(operators, {image.name})
    small = min(FEW_CHANNELS, image.block) if image.channels <= FEW_CHANNELS else image.block
    if all(isinstance(reader, Conv) for reader in readers):
        at_once = precision == "bf16" or (device.kind != "cpu" and image.channels > 1)
        return replace(image, block=small if at_once else 1)
    return replace(image, block=small) if all(isinstance(each, QuantizedConv) for each in readers) else image


def _readers(operators: Sequence[Operator], tensors: set[str]) -> list[Operator]:
    return [operator for operator in operators if not tensors.isdisjoint(operator.inputs)]


def _with_elements(graph: Graph, tensors: Tensors, precision: Precision, device: Device, output: str) -> Tensors:
    """Return the tensors with the elements of this precision; steps are bytes where layers multiply bytes."""
    floats = floats_of(precision)
    found = {name: replace(tensor, element=floats) for name, tensor in tensors.items()} | {output: tensors[output]}
    in_bytes = multiplies_bytes(device.instructions) and has_byte_weights(graph)
    for name, (low, high) in step_tensors(graph).items():
        if name in found and name != output:
            fits = in_bytes and high - low <= MOST_IN_BYTE
            stored = (Element.BYTE, low) if fits else (Element.SHORT, 0)
            found[name] = replace(found[name], element=stored[0], lowest=stored[1])
    return found


def _site(operator: Operator, tensors: Tensors, device: Device, half_weights: bool) -> Site[Operator]:
    inputs = tuple(tensors[name] for name in operator.inputs)
    return Site(operator, inputs, tensors[operator.output], device, half_weights)


def _with_halos(tensors: Tensors, choices: Mapping[Site[Operator], Choice]) -> Tensors:
    """Return each tensor with the halo that all of its readers need."""
    halos: dict[str, Halo] = {}
    for site, choice in choices.items():
        source = site.operator.inputs[0]
        halos[source] = halos.get(source, NO_HALO) | choice.variant.reach(site, choice.parameters)
    return {name: replace(tensor, halo=halos.get(name, NO_HALO)) for name, tensor in tensors.items()}
