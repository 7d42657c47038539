"""The public interface for other programs: `subscribe`, `listen` and `recent_events`.

With asyncio, and for several hubs at once: `edged.client.asynchronous`.
"""

from edged.client.replay import recent_events
from edged.client.subscribe import listen, subscribe
from edged.client.subscription import SnapshotPicture
from edged.messages import Event, Prediction, Status

__all__ = ["Event", "Prediction", "SnapshotPicture", "Status", "listen", "recent_events", "subscribe"]
