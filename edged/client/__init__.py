"""The public interface for other programs: `subscribe` and `listen`; with asyncio: `edged.client.asynchronous`."""

from edged.client.listen import listen
from edged.client.subscribe import subscribe
from edged.client.subscription import SnapshotPicture
from edged.messages import Event, Prediction, Status

__all__ = ["Event", "Prediction", "SnapshotPicture", "Status", "listen", "subscribe"]
