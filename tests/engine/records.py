"""Tuning records of a board for one site."""

from typing import Any

from edged import __version__
from edged.engine.device import Device
from edged.engine.layout import Tensor
from edged.engine.selection import Choice, Rules, candidates, source_digest
from edged.engine.shape import shape_of
from edged.engine.tuning_records import BestVariant, RefusedVariant, TunedShape, TuningRecord, measured_on
from edged.engine.variants.variant import Site
from edged.model.activations import RELU
from tests.engine.networks import conv

BOARD = Device(
    platform="ARM Platform",
    name="Mali-T624",
    kind="gpu",
    version="OpenCL 1.2",
    driver="1.2",
    compute_units=4,
    memory_bytes=2**31,
    vector_width=4,
    alignment=128,
    unified_memory=True,
    fp16=True,
    position=(0, 0),
)
SITE = Site(
    conv("up", ("x",), (20, 33), 3, activation=RELU),
    (Tensor("x", 1, 20, 9, 7, block=4),),
    Tensor("up", 1, 33, 9, 7, block=4),
    BOARD,
)


def record(*tuned: TunedShape) -> TuningRecord:
    return TuningRecord(edged=__version__, device=measured_on(BOARD), tuned=tuned)


def best(choice: Choice, site: Site[Any] = SITE) -> TunedShape:
    way = BestVariant(variant=choice.variant.name, parameters=choice.parameters, seconds=0.001)
    return TunedShape(shape=shape_of(site), best=way)


def refused(*choices: Choice, site: Site[Any] = SITE) -> TunedShape:
    refusals = [
        RefusedVariant(
            variant=choice.variant.name,
            parameters=choice.parameters,
            reason="wrong",
            detail="0.5 of the range",
            source=source_digest(site, choice),
        )
        for choice in choices
    ]
    return TunedShape(shape=shape_of(site), refused=tuple(refusals))


def unlike_rules(position: int) -> Choice:
    """Return one of the candidates that the rules would not choose."""
    ruled = Rules().choose(SITE)
    return [one for one in candidates(SITE) if one.parameters != ruled.parameters][position]
