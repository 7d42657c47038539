"""Requests that wait: the newest goes first, the oldest is given up."""

from dataclasses import dataclass

from edged.camera.served.request_queue import MOST, RequestQueue

ANSWER_NS = 100


@dataclass(frozen=True)
class Request:
    """A request without a picture."""

    received_ns: int
    due_ns: int


def request(received_ns: int) -> Request:
    return Request(received_ns, received_ns + ANSWER_NS)


def empty_queue() -> RequestQueue[Request]:
    return RequestQueue()


def test_the_newest_request_is_taken_first() -> None:
    queue = empty_queue()
    for received_ns in (1, 2, 3):
        queue.add(request(received_ns))

    assert [queue.take_newest().received_ns for _ in range(3)] == [3, 2, 1]
    assert not queue
    assert queue.due_ns is None


def test_requests_whose_time_is_over_are_taken_oldest_first() -> None:
    queue = empty_queue()
    for received_ns in (1, 2, 30):
        queue.add(request(received_ns))

    assert queue.due_ns == 1 + ANSWER_NS
    assert [each.received_ns for each in queue.take_late(2 + ANSWER_NS)] == [1, 2]
    assert [each.received_ns for each in queue.clear()] == [30]


def test_the_oldest_of_too_many_requests_is_given_up() -> None:
    queue = empty_queue()
    given_up = [queue.add(request(received_ns)) for received_ns in range(MOST + 2)]

    assert [each.received_ns for each in given_up if each] == [0, 1]
    assert len(queue) == MOST
