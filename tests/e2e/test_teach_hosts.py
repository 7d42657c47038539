"""A worker on another host answers by what was taught here: the head crosses the link, the model lies there."""

from pathlib import Path

import pytest

from edged.cli import daemon_client
from edged.messages import CropSample, PromoteAnswer, PromoteRequest, TeachRequest
from edged.model.head_versions import Base, teach_folder
from tests.cli.models import SIZE
from tests.e2e.pipeline import Pipeline, three_hosts
from tests.e2e.versions import FEATURES, keep_random_version
from tests.eventually import LIMIT_S, eventually

pytestmark = pytest.mark.deep


def answered_by(pipeline: Pipeline) -> str:
    return str(pipeline.predictions(-1)[0]["model"]["sha256"])


def test_a_worker_of_another_host_gives_features_and_keeps_a_promoted_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "hub"))
    with three_hosts(tmp_path) as pipeline:
        version = keep_random_version(teach_folder("test"), Base(name="small", sha256=answered_by(pipeline)))
        with daemon_client.connect_daemon(tmp_path / "hub/edged.yaml", "teach") as hub:
            hub.send(TeachRequest(mode="record", camera="yard", frames=1, seconds=LIMIT_S))
            while not isinstance((told := hub.receive())[0], CropSample):
                pass
            assert len(told[1]) == SIZE * SIZE * 3 + 4 * FEATURES
            hub.send(PromoteRequest(version=version))
            while not isinstance(outcome := hub.receive()[0], PromoteAnswer):
                pass
        assert outcome.accepted, outcome.message
        eventually(lambda: answered_by(pipeline) == version)

        pipeline.kill("big")
        pipeline.start("big", "worker", "0")
        pipeline.goes_on()

        assert {
            each["model"]["sha256"] for each in pipeline.predictions() if each["seq"] >= outcome.first_seq
        } == {version}
        assert pipeline.is_whole()
