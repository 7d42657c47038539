"""Who may scrape a real daemon."""

import json
import shutil
import ssl
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.cli.command import edged
from tests.e2e.certificates import new_authority, new_certificate
from tests.e2e.daemon import Daemon, config_in, run_edged
from tests.e2e.zmtp import connected, is_cut
from tests.eventually import LIMIT_S, eventually, free_port


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two authorities, a certificate for the hub, one for a client of each."""
    folder = tmp_path_factory.mktemp("scrapes")
    for authority, names in {"ours": ("hub", "prometheus"), "theirs": ("mallory",)}.items():
        new_authority(folder, authority)
        for name in names:
            new_certificate(folder, name, authority)
    return folder


@pytest.fixture(scope="module")
def daemon(folder: Path) -> Iterator[Daemon]:
    """With TLS, for clients of our authority, at every address of this host."""
    tls = {"certificate": "hub.crt", "key": "hub.key", "client_ca": "ours.crt"}
    config = config_in(folder, metrics={"address": f"0.0.0.0:{free_port()}", "tls": tls})
    with run_edged(folder, config=config) as daemon:
        daemon.first(1)
        yield daemon


def scrape(daemon: Daemon, name: str | None = "prometheus", authority: str = "ours") -> str:
    """What a client with the certificate `name` gets that trusts `authority`."""
    context = ssl.create_default_context(cafile=daemon.folder / f"{authority}.crt")
    if name:
        context.load_cert_chain(daemon.folder / f"{name}.crt", daemon.folder / f"{name}.key")
    with urlopen(f"https://{address(daemon)}/metrics", timeout=LIMIT_S, context=context) as answer:
        return str(answer.read().decode())


def address(daemon: Daemon) -> str:
    port = daemon.config["metrics"]["address"].rpartition(":")[2]
    return f"127.0.0.1:{port}"


def rejected(daemon: Daemon, reason: str) -> float:
    start = f'edged_peers_rejected_total{{endpoint="metrics.address",reason="{reason}"}} '
    lines = [line for line in scrape(daemon).splitlines() if line.startswith(start)]
    return float(lines[0].removeprefix(start)) if lines else 0.0


@pytest.mark.deep
@pytest.mark.parametrize(
    ("client", "authority", "reason"),
    [(None, "ours", "no_certificate"), ("mallory", "ours", "no_certificate"), ("prometheus", "theirs", "not_tls")],
)
def test_who_has_no_certificate_of_our_authority_or_distrusts_ours_is_counted(
    daemon: Daemon, client: str | None, authority: str, reason: str
) -> None:
    before = rejected(daemon, reason)
    with pytest.raises((URLError, OSError)):
        scrape(daemon, client, authority)
    eventually(lambda: rejected(daemon, reason) == before + 1)


def test_who_speaks_no_tls_gets_nothing(daemon: Daemon) -> None:
    before = rejected(daemon, "not_tls")
    with connected(address(daemon)) as peer:
        peer.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
        assert is_cut(peer)
    eventually(lambda: rejected(daemon, "not_tls") == before + 1)
    assert 'edged_insecure{endpoint="metrics.address"} 0.0' in scrape(daemon)


def test_who_does_not_end_his_handshake_takes_no_scrape_from_others(daemon: Daemon) -> None:
    with ExitStack() as peers:
        for start in (b"", b"\x16", b"\x16\x03\x01\x02\x00\x01"):
            peers.enter_context(connected(address(daemon))).sendall(start)
        assert "edged_predictions_total" in scrape(daemon)


def test_prometheus_scrapes_it(daemon: Daemon, tmp_path: Path) -> None:
    if not (prometheus := shutil.which("prometheus")):
        pytest.skip("prometheus is not installed")
    files = {"ca_file": "ours.crt", "cert_file": "prometheus.crt", "key_file": "prometheus.key"}
    job = {
        "job_name": "edged",
        "scheme": "https",
        "tls_config": {key: str(daemon.folder / name) for key, name in files.items()},
        "static_configs": [{"targets": [address(daemon)]}],
    }
    config = {"global": {"scrape_interval": "1s"}, "scrape_configs": [job]}
    (tmp_path / "prometheus.yml").write_text(json.dumps(config))
    listen = f"127.0.0.1:{free_port()}"
    command = [prometheus, "--config.file=prometheus.yml", "--storage.tsdb.path=data"]
    with subprocess.Popen([*command, f"--web.listen-address={listen}"], cwd=tmp_path, stderr=-3) as server:
        try:
            eventually(lambda: "edged_predictions_total" in _names(listen))
        finally:
            server.kill()


def _names(listen: str) -> list[str]:
    query = urlencode({"query": 'edged_predictions_total{job="edged"}'})
    try:
        with urlopen(f"http://{listen}/api/v1/query?{query}", timeout=LIMIT_S) as answer:
            found: list[dict[str, Any]] = json.load(answer)["data"]["result"]
    except OSError:
        return []
    return [each["metric"]["__name__"] for each in found]


def test_a_key_that_others_may_read_is_refused(daemon: Daemon, tmp_path: Path) -> None:
    for name in ("hub.crt", "hub.key"):
        shutil.copy(daemon.folder / name, tmp_path)
    (tmp_path / "hub.key").chmod(0o640)
    tls = {"certificate": "hub.crt", "key": "hub.key"}
    config = config_in(tmp_path, metrics={"address": f"127.0.0.1:{free_port()}", "tls": tls})
    (tmp_path / "edged.yaml").write_text(json.dumps(config))
    done = edged("run", tmp_path / "edged.yaml", env={"XDG_STATE_HOME": str(tmp_path)})
    assert done.returncode == 2
    assert f"{tmp_path}/hub.key: others may read this secret: chmod 600" in done.stderr


@pytest.mark.deep
def test_each_scrape_shows_one_moment(daemon: Daemon) -> None:
    scrapes = [sums_of(scrape(daemon)) for _ in range(50)]
    for sums in scrapes:
        predicted = sums["predictions_total"]
        assert set(ways_to_count_predictions(sums)) == {predicted}
        # a frame that a job made too late is dropped, not predicted
        assert 0 <= sums["frames of jobs"] - predicted <= sums["frames_dropped_total"]
    assert scrapes[-1]["predictions_total"] > scrapes[0]["predictions_total"]


def sums_of(text: str) -> dict[str, float]:
    """Of all cameras and workers, by the name of the metric without `edged_`."""
    sums: dict[str, float] = defaultdict(float)
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            sums[sample.name.removeprefix("edged_")] += sample.value
            if sample.name == "edged_jobs_total":
                sums["frames of jobs"] += sample.value * int(sample.labels["frames"])
    return sums


def ways_to_count_predictions(sums: dict[str, float]) -> tuple[float, ...]:
    not_predicted = sums["frames_dropped_total"] + sums["frames_pending"]
    return sums["frames_total"] - not_predicted, sums["score_count"], sums["labels_total"]
