"""The public interface for other programs: `subscribe`."""

from edged.client.subscribe import subscribe
from edged.messages import Prediction

__all__ = ["Prediction", "subscribe"]
