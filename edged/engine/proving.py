"""Check that a device computes a network correctly: compare scores and variants with the reference."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from edged.config import Precision
from edged.engine.agreement import SCORES_CLOSE, Agreement, Array
from edged.engine.device import Device
from edged.engine.proofs import WrongVariant, kernels_digest
from edged.engine.runtime import Runtime
from edged.engine.selection import Choice, Chooser
from edged.engine.shape import shape_of
from edged.engine.variants.variant import Site
from edged.errors import DeviceError, DeviceMemoryError
from edged.model import reference
from edged.model.graph import Float32
from edged.model.model_part import ModelPart

PICTURES = 2  # frames that the reference computes; larger jobs repeat them
NOT_USED = "it is not used; name another device in `workers:` (`edged devices` lists them), or update its driver"

log = logging.getLogger("edged.worker")


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
    agreement = Agreement(part, device, batch=len(frames), precision=precision, chooser=chooser)
    chosen = [(site, chooser.choose(site)) for site in agreement.sites]
    return Examination(runtime, part, precision, agreement, chosen).run(frames)


class Examination:
    """A comparison of `runtime`, which computes `part`. The weights of both may be read.

    `chosen`: the sites of `agreement` with their variants.
    """

    def __init__(
        self,
        runtime: Runtime,
        part: ModelPart,
        precision: Precision,
        agreement: Agreement,
        chosen: Sequence[tuple[Site[Any], Choice]],
    ) -> None:
        self._runtime, self._part, self._graph = runtime, part, part.graph
        self._precision: Precision = precision
        self._agreement, self._chosen = agreement, chosen

    def run(self, frames: Array) -> Examined:
        """Compare the device's results for `frames`, a full batch, with the reference.

        Where the host has too little memory for the comparison, a warning says what was not compared. Raises
        DeviceError if the device is wrong and no variant is the cause, or if it has no memory for a job.
        """
        full = np.resize(frames[:PICTURES], frames.shape)
        found = self._runtime.submit(full).wait().outputs.reshape(len(full), -1)
        with np.errstate(all="ignore"):  # a network may overflow by itself
            try:
                inputs = self._part.prepared(frames[:PICTURES])
                # one picture at a time, since its tensors take far more memory
                pictures = (inputs[i : i + 1] for i in range(len(inputs)))
                expected = np.concatenate([reference.run(self._graph, picture) for picture in pictures])
            except MemoryError as lack:
                self._warn_of_memory("it is used without a comparison with the reference", lack)
                return Examined(float("nan"), (), (), is_complete=False)
            error = self._agreement.outputs(found, np.resize(expected, found.shape))
            is_close = error <= SCORES_CLOSE[self._precision] or not np.isfinite(expected).all()
            try:
                return Examined(error, self._variants, self._wrong(full, inputs, found, error, is_close))
            except (MemoryError, DeviceMemoryError) as lack:
                return self._scores_alone(error, is_close, lack)

    @property
    def _variants(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(choice.variant.name for _, choice in self._chosen))

    def _wrong(
        self, full: Array, inputs: Float32, found: Array, error: float, is_close: bool
    ) -> tuple[WrongVariant, ...]:
        """Return the variants that disagree. Only the tensors of the last frames of the job `full` are read."""
        outputs, tensors = self._runtime.observe(full, self._agreement.written, last=len(inputs))
        self._check_input(tensors, inputs[np.arange(len(full) - len(inputs), len(full)) % len(inputs)])
        tensors |= {self._graph.input: tensors.get(self._graph.input, full), self._agreement.output: outputs}
        compared = [self._compare(*each, tensors) for each in self._to_compare(all_of_them=not is_close)]
        wrong = tuple(each for each in compared if each)
        if not wrong and not is_close:
            self._explain(error, self._agreement.outputs(found, outputs))
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

    def _check_input(self, tensors: Mapping[str, Array], inputs: Float32) -> None:
        """Compare the output of the first kernel, which prepares pictures and has no other variant."""
        error = self._agreement.prepared(tensors, inputs)
        if error and not error.is_right:
            device = self._runtime.device_name
            raise DeviceError(
                f"{device} prepares pictures wrongly (error {error.share:.1e} of the range): {NOT_USED}"
            )

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
        error = self._agreement.operator(site, tensors, np.float32)
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
            "%s: rounding alone changes its scores by %.0e of their range on %s, though each operator is right: "
            "`edged eval` measures what that costs",
            *(name, error, device),
        )
