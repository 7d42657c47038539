"""Check that a device computes a network correctly: compare scores and variants with the reference."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.config import Precision
from edged.engine.device import Device
from edged.engine.launch import HostCall
from edged.engine.layout import Element, Tensor
from edged.engine.packed import LARGEST_HALF
from edged.engine.planner import STORED, Plan, make_plan
from edged.engine.proofs import WrongVariant, kernels_digest
from edged.engine.runtime import Runtime
from edged.engine.selection import Choice, Chooser
from edged.engine.shape import shape_of
from edged.engine.tuning.task import HALF_TOLERANCE, TOLERANCE, Listener, ReferenceProblem
from edged.engine.variants.variant import Site
from edged.errors import DeviceError, DeviceMemoryError
from edged.model import reference
from edged.model.graph import Add, AveragePool, Conv, Dense, Float32, Graph, Operator
from edged.model.model_part import ModelPart

PICTURES = 2  # frames that the reference computes; larger jobs repeat them
# of the range
SCORES_CLOSE: dict[Precision, float] = {"fp32": 1e-3, "fp16-weights": 1e-2, "fp16": 3e-2, "bf16": 3e-2}
IMAGE_AXES = 3
NOT_USED = "it is not used; name another device in `workers:` (`edged devices` lists them), or update its driver"

log = logging.getLogger("edged.worker")

Array = NDArray[Any]


@dataclass(frozen=True)
class Examined:
    """The result of a comparison.

    `error`: of the scores, as a share of their range. `variants`: those that agree with the reference.

    `is_complete`: False where the host had too little memory for all of it; a warning said what is missing.
    """

    error: float
    variants: tuple[str, ...]
    wrong: tuple[WrongVariant, ...]
    is_complete: bool = True


def examine(
    runtime: Runtime,
    part: ModelPart,
    device: Device,
    frames: Array,
    *,
    precision: Precision,
    chooser: Chooser,
) -> Examined:
    """Compare the results of `runtime` for `frames`, a full batch, with the reference.

    The other arguments are those of the runtime.

    The weights of `part` may be read. Raises DeviceError if the device is wrong and no variant is the cause.
    """
    listener = Listener(chooser)
    plan = make_plan(part, device, len(frames), precision, listener)
    chosen = [(site, chooser.choose(site)) for site in listener.sites]
    return Examination(runtime, part, precision, plan, chosen).run(frames)


class Examination:
    """A comparison of `runtime`, which computes `part` by `plan`. The weights of both may be read.

    `chosen`: the sites of the plan with their variants.
    """

    def __init__(
        self,
        runtime: Runtime,
        part: ModelPart,
        precision: Precision,
        plan: Plan,
        chosen: Sequence[tuple[Site[Any], Choice]],
    ) -> None:
        self._runtime, self._graph, self._wanted = runtime, part.graph, part.input
        self._precision: Precision = precision
        self._chosen = chosen
        self._output = plan.output.name
        self._written = written_tensors(plan, [site for site, _ in chosen])
        self._prepared_name = plan.prepared.name if plan.prepared else part.graph.input

    def run(self, frames: Array) -> Examined:
        """Compare the device's results for `frames`, a full batch, with the reference.

        Where the host has too little memory for the comparison, a warning says what was not compared. Raises
        DeviceError if the device is wrong and no variant is the cause, or if it has no memory for a job.
        """
        full = np.resize(frames[:PICTURES], frames.shape)
        found = self._runtime.submit(full).wait().outputs.reshape(len(full), -1)
        with np.errstate(all="ignore"):  # a network may overflow by itself
            try:
                inputs = self._prepared(frames[:PICTURES])
                expected = self._expected(inputs)
            except MemoryError as lack:
                self._warn_of_memory("it is used without a comparison with the reference", lack)
                return Examined(float("nan"), (), (), is_complete=False)
            error = share_of_range(found, np.resize(expected, found.shape))
            is_close = error <= SCORES_CLOSE[self._precision] or not np.isfinite(expected).all()
            try:
                return Examined(error, self._variants, self._wrong(full, inputs, found, error, is_close))
            except (MemoryError, DeviceMemoryError) as lack:
                return self._scores_alone(error, is_close, lack)

    @property
    def _variants(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(choice.variant.name for _, choice in self._chosen))

    def _expected(self, inputs: Float32) -> Float32:
        """Return the reference's scores, one picture at a time, since its tensors take far more memory."""
        return np.concatenate([reference.run(self._graph, inputs[i : i + 1]) for i in range(len(inputs))])

    def _wrong(
        self, full: Array, inputs: Float32, found: Array, error: float, is_close: bool
    ) -> tuple[WrongVariant, ...]:
        """Return the variants that disagree. Only the tensors of the last frames of the job `full` are read."""
        outputs, tensors = self._runtime.observe(full, self._written, last=len(inputs))
        self._check_input(tensors, inputs[np.arange(len(full) - len(inputs), len(full)) % len(inputs)])
        tensors |= {self._graph.input: tensors.get(self._graph.input, full), self._output: outputs}
        compared = [self._compare(*each, tensors) for each in self._to_compare(all_of_them=not is_close)]
        wrong = tuple(each for each in compared if each)
        if not wrong and not is_close:
            self._explain(error, share_of_range(found, outputs.reshape(found.shape)))
        return wrong

    def _scores_alone(self, error: float, is_close: bool, lack: Exception) -> Examined:
        """Decide by the scores alone, if operators cannot be compared: wrong scores are not served."""
        if not is_close:
            device, name = self._runtime.device_name, self._graph.name
            raise DeviceMemoryError(
                f"{device} computes {name} wrongly (error {error:.1e} of the range), and there is too little "
                f"memory to find the operator ({lack}): {NOT_USED}"
            ) from lack
        self._warn_of_memory("its scores agree with the reference, its operators were not compared", lack)
        return Examined(error, self._variants, (), is_complete=False)

    def _warn_of_memory(self, what: str, lack: Exception) -> None:
        """Warn that only `what` is done instead of the whole comparison."""
        log.warning(
            "%s: %s: too little memory to compare %s (%s)",
            *(self._runtime.device_name, what, self._graph.name, str(lack) or type(lack).__name__),
        )

    def _prepared(self, frames: Array) -> Float32:
        if self._wanted:
            return reference.prepare(frames, self._wanted)
        return frames.reshape(len(frames), *self._graph.shapes[self._graph.input])

    def _check_input(self, tensors: Mapping[str, Array], inputs: Float32) -> None:
        """Compare the output of the first kernel, which prepares pictures and has no other variant."""
        found = tensors.get(self._prepared_name)
        if found is None:
            return
        error = share_of_range(found, prepared_by_reference(self._graph, self._prepared_name, inputs))
        if error > (HALF_TOLERANCE if self._precision in STORED else TOLERANCE):
            device = self._runtime.device_name
            raise DeviceError(f"{device} prepares pictures wrongly (error {error:.1e} of the range): {NOT_USED}")

    def _to_compare(self, *, all_of_them: bool) -> Iterator[tuple[Site[Any], Choice]]:
        """Return one site of each shape, or all: wrong scores may be caused by a single site."""
        seen: set[str] = set()
        for site, choice in self._chosen:
            key = f"{shape_of(site).key} {choice}"
            if all_of_them or key not in seen:
                yield site, choice
            seen.add(key)

    def _compare(self, site: Site[Any], choice: Choice, tensors: Mapping[str, Array]) -> WrongVariant | None:
        """Compare the output of `choice` for its own inputs, of the last frame: earlier errors do not count."""
        inputs = tuple(np.asarray(each, np.float32) for each in inputs_in_graph(self._graph, site, tensors))
        error = operator_error(site, inputs, tensors[site.output.name][-1:])
        if error is None or error.is_right:
            return None
        return WrongVariant(
            variant=choice.variant.name,
            shape=shape_of(site).key,
            described=str(shape_of(site)),
            source=kernels_digest(site, choice),
            detail=f"error {error.share:.1e} of the range",
        )

    def _explain(self, error: float, between_runs: float) -> None:
        """Raise an error where the scores differ from the reference though each operator agrees."""
        device, name = self._runtime.device_name, self._graph.name
        if between_runs > SCORES_CLOSE[self._precision]:
            raise DeviceError(f"{device} gives different answers of {name} for the same pictures: {NOT_USED}")
        log.warning(
            "%s: rounding alone changes its scores by %.0e of their range on %s, though each operator is right",
            *(name, error, device),
        )


def prepared_by_reference(graph: Graph, name: str, inputs: Float32) -> Array:
    """Return what the first kernel should write into the tensor `name`: the inputs, or the steps of them."""
    quantize = next((operator for operator in graph.operators if operator.output == name), None)
    return reference.compute(quantize, inputs) if quantize else inputs


def written_tensors(plan: Plan, sites: Sequence[Site[Any]]) -> dict[str, Tensor]:
    """Return the tensor that each operator writes, also on the host, by the operator's name; not the output."""
    in_memory = {tensor.name: tensor for launch in plan.launches for tensor in launch.tensors}
    outputs = {site.operator.name: site.output.name for site in sites}
    outputs |= {call.operator: call.output.name for call in plan.launches if isinstance(call, HostCall)}
    if plan.prepared:
        outputs[plan.launches[0].operator] = plan.prepared.name
    return {operator: in_memory[name] for operator, name in outputs.items() if name != plan.output.name}


def inputs_in_graph(graph: Graph, site: Site[Any], tensors: Mapping[str, Array]) -> Iterator[Array]:
    """Yield what an operator read of the last frame.

    `tensors` are those of the device, [n, channels, height, width]: also of features, of which an operator may
    read some that lie there as an image. A frame with more axes gets those that it has in the graph.
    """
    for tensor in site.inputs:
        values, shape = tensors[tensor.name][-1:], graph.shapes.get(tensor.name, ())
        yield values.reshape(1, *shape) if len(shape) > IMAGE_AXES else values


@dataclass(frozen=True)
class OperatorError:
    """`share`: the largest error as a share of the range; infinite for NaN. `is_right`: it is small enough."""

    share: float
    is_right: bool


def operator_error(site: Site[Any], inputs: tuple[Array, ...], written: Array) -> OperatorError | None:
    """Compare an operator's output, whose inputs on the device were `inputs`: errors before it do not count.

    Computed in the dtype of `inputs`. None if the right answer is not finite, or too large for the tensor's type.
    """
    if not all(np.isfinite(each).all() for each in inputs):
        return None
    expected = _computed(_as_stored(site), inputs)
    is_half = site.output.element is Element.FLOAT16
    if not np.isfinite(expected).all() or (is_half and np.abs(expected).max() > LARGEST_HALF):
        return None
    found = np.asarray(written, np.float32).reshape(expected.shape)
    problem = ReferenceProblem(site, inputs, expected)
    share = problem.error(found)
    is_right = share <= problem.tolerance or np.abs(found - expected).max() <= problem.tolerance * _bound(
        site.operator, inputs
    )
    return OperatorError(share, bool(is_right))


def _as_stored(site: Site[Any]) -> Operator:
    """Return the operator with the weights that the device has: rounding them is not an error of its kernels."""
    operator: Operator = site.operator
    if not site.half_weights or not isinstance(operator, Conv | Dense):
        return operator
    with np.errstate(over="ignore"):
        return replace(operator, weight=operator.weight.astype(np.float16).astype(np.float32))


def _computed(operator: Operator, inputs: tuple[Array, ...]) -> Array:
    if isinstance(operator, Dense):
        inputs = tuple(x.reshape(len(x), -1) for x in inputs)
    return reference.compute(operator, *inputs)


def _bound(operator: Operator, inputs: tuple[Array, ...]) -> float:
    """Return the largest sum of the products' absolute values, which bounds rounding even if the sums cancel."""
    if not isinstance(operator, Conv | Dense | Add | AveragePool):
        return 0.0
    if isinstance(operator, Conv | Dense):
        operator = replace(operator, weight=np.abs(operator.weight), bias=np.abs(operator.bias))
    return float(_computed(operator, tuple(map(np.abs, inputs))).max())


def share_of_range(found: Array, expected: Array) -> float:
    """Return the largest error as a share of the largest value of `expected`; infinite for NaN."""
    if not np.isfinite(found).all():
        return float("inf")
    return float(np.abs(found - expected).max() / max(np.abs(expected).max(), 1e-30))
