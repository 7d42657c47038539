"""An image of another size."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.engine.launch import Launch, Weights
from edged.engine.variants.pixelwise import pixelwise, same_blocks
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.graph import Interpolate


def _launches(site: Site[Interpolate], parameters: Parameters) -> tuple[Launch, ...]:
    operator = site.operator
    places = Weights(lambda: _in_a_row(operator.row_places, operator.column_places), whole=np.int32)
    weights = Weights(lambda: _in_a_row(operator.row_weights, operator.column_weights))
    taps = {"ROW_TAPS": operator.row_places.shape[1], "COLUMN_TAPS": operator.column_places.shape[1]}
    launch = pixelwise("interpolate", site, taps)
    return (replace(launch, arguments=(*site.inputs, places, weights, site.output)),)


def _in_a_row(rows: NDArray[Any], columns: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([rows.reshape(-1), columns.reshape(-1)])


INTERPOLATE = Variant("interpolate", _launches, can_compute=same_blocks)
