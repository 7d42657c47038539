"""Which job goes where, while frames are pumped through a split network."""

from collections import Counter
from collections.abc import Sequence

from edged.hub.frames.queues import Pixels
from edged.messages import Features, Job, LinkMessage, Scores
from edged.split.pump import Pump
from edged.split.workers import Team
from tests.cli.scripted import Says, ScriptedLinks, hello_of

IMAGES = [b"the pixels"]


def gives_features(message: LinkMessage, payloads: Sequence[Pixels]) -> list[Says]:
    assert isinstance(message, Job)
    answer = Features(job=message.job, upload_s=0, forward_s=0, download_s=0)
    return [(answer, [memoryview(f"features of {message.job}".encode())])]


def gives_scores(message: LinkMessage, payloads: Sequence[Pixels]) -> list[Says]:
    assert isinstance(message, Job)
    return [(Scores(job=message.job, frames=((),), upload_s=0, forward_s=0, download_s=0), ())]


def pumped(front: Sequence[str], back: Sequence[str], credit: int = 2) -> ScriptedLinks:
    links = ScriptedLinks({**dict.fromkeys(front, gives_features), **dict.fromkeys(back, gives_scores)})
    team = Team(links, {}, print)
    team.hellos.update({name: hello_of(name, credit) for name in (*front, *back)})
    Pump(team, [front, back], IMAGES).run(for_s=0.0)
    return links


def test_each_job_passes_all_stages_and_takes_its_own_features_along() -> None:
    links = pumped(["a"], ["b"])
    for name, message, payloads in links.heard:
        assert isinstance(message, Job)
        (sent,) = payloads
        expected = IMAGES[0] if name == "a" else f"features of {message.job}".encode()
        assert sent == expected
    counts = Counter(name for name, _, _ in links.heard)
    assert counts["a"] == counts["b"] > 0


def test_nobody_is_given_more_than_its_credit() -> None:
    held: Counter[str] = Counter()

    class Counting(ScriptedLinks):
        def send(self, peer: str, message: LinkMessage, payloads: Sequence[Pixels] = ()) -> bool:
            held[peer] += 1
            assert held[peer] <= 2
            return super().send(peer, message, payloads)

        def receive(self):  # type: ignore[no-untyped-def]
            received = super().receive()
            if received:
                held[received.peer] -= 1
            return received

    links = Counting({"a": gives_features, "b": gives_scores})
    team = Team(links, {}, print)
    team.hellos.update({name: hello_of(name) for name in "ab"})
    Pump(team, [["a"], ["b"]], IMAGES).run(for_s=0.0)
    assert held == {"worker/a": 0, "worker/b": 0}


def test_the_workers_of_a_group_share_the_jobs() -> None:
    counts = Counter(name for name, _, _ in pumped(["a", "c"], ["b"]).heard)
    assert abs(counts["a"] - counts["c"]) <= 1
