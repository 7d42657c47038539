"""What the pipeline offers to a client that teaches: to request more of a job than its scores."""

from typing import Protocol

from edged.hub.frames.jobs import Assigned
from edged.hub.publish.sender import AnsweredJob


class JobObserver(Protocol):
    """Requests more of jobs than their scores, while `is_active`."""

    is_active: bool

    def request_extras(self, assigned: Assigned) -> None:
        """Set `features` or `shadow` of a job that is about to be sent."""

    def receive_scores(self, job: AnsweredJob) -> None:
        """Receive a job for which extras were requested."""
