"""Maximum and mean over a window, the mean also over the whole image."""

from edged.engine.launch import Launch
from edged.engine.layout import window_defines
from edged.engine.variants.pixelwise import pixelwise
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.graph import AveragePool, MaxPool


def pool_defines(pool: MaxPool | AveragePool) -> dict[str, int]:
    """Return the macros of `window.cl`."""
    return window_defines(pool.kernel, pool.strides, pool.pads)


def _max_pool(site: Site[MaxPool], parameters: Parameters) -> tuple[Launch, ...]:
    return (pixelwise("max_pool", site, pool_defines(site.operator)),)


MAX_POOL = Variant("max_pool", _max_pool)


def _average_pool(site: Site[AveragePool], parameters: Parameters) -> tuple[Launch, ...]:
    padding = {"COUNT_PADDING": int(site.operator.count_include_pad)}
    return (pixelwise("average_pool", site, pool_defines(site.operator) | padding),)


AVERAGE_POOL = Variant("average_pool", _average_pool)
