"""What another program imports: `subscribe`."""

from edged.client.subscribe import subscribe
from edged.messages import Prediction

__all__ = ["Prediction", "subscribe"]
