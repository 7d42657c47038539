"""The service threads of a hub that is no whole one."""

from edged.hub.service_threads import ServiceThreads
from edged.metrics import Metrics


def new_services() -> ServiceThreads:
    """With metrics of their own."""
    metrics = Metrics("test")
    return ServiceThreads(metrics.service_up, metrics.service_failures)
