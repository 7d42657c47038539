"""`edged doctor` as a user runs it. Without OpenCL there is no device to test, so it is quick."""

import json
import tarfile
from pathlib import Path

from edged.doctor.redaction import without_paths
from tests.cli.command import NO_OPENCL, edged, edged_here

SECRETS = ("hunter2", "letmein", "tok3n", "s3same", "sw0rdfish", "open-barrel", "c4mera-us3r", "br0ker-us3r")


def test_a_board_with_a_mistake_in_its_config(tmp_path: Path) -> None:
    config = tmp_path / "edged.yaml"
    config.write_text("camera: {}\n")
    done = edged("doctor", config, env=NO_OPENCL)
    assert done.returncode == 1
    assert "FIX  config: " in done.stdout
    assert "did you mean 'cameras'?" in " ".join(done.stdout.split())
    assert (
        max(len(line) for line in done.stdout.splitlines() if not line.startswith(" " * 10)) <= 80
    )  # commands stay whole


def test_what_is_valid_of_a_config_with_a_mistake_is_checked_too(tmp_path: Path) -> None:
    config = tmp_path / "edged.yaml"
    config.write_text(
        "cameras: {door: {source: 'synthetic:digits'}, gate: {source: absent.mp4}, yard: {sauce: x}}\n"
        "workers: [{device: numpy}]\n"
        "freshness: {max_age_s: soon}\n"
    )
    done = edged("doctor", config, "--json", env=NO_OPENCL)
    judged = {each["what"]: each for each in json.loads(done.stdout)["findings"] if each["section"] == "Config"}

    assert judged["config"]["level"] == "error"
    assert "unknown key 'sauce'" in judged["config"]["text"]
    assert "freshness.max_age_s" in judged["config"]["text"]
    assert judged["camera door"]["level"] == judged["worker 0"]["level"] == "ok"
    assert "absent.mp4" in judged["camera gate"]["text"]
    assert "camera yard" not in judged


def test_a_config_that_is_no_yaml_is_the_only_finding_about_it(tmp_path: Path) -> None:
    (tmp_path / "edged.yaml").write_text("cameras: {door: [\n")
    done = edged("doctor", tmp_path / "edged.yaml", "--json", env=NO_OPENCL)
    judged = [each for each in json.loads(done.stdout)["findings"] if each["section"] == "Config"]

    assert [(each["what"], each["level"]) for each in judged] == [("config", "error")]


def test_secrets_are_in_no_output(tmp_path: Path) -> None:
    # given secrets in every place that a config has for them, or where people put them by mistake
    (tmp_path / "password").write_text("hunter2\n")
    (tmp_path / "broker").write_text("letmein\n")
    (tmp_path / "hub.key").write_text("s3same")
    config = tmp_path / "edged.yaml"
    config.write_text(
        "node: gate\n"
        "cameras:\n"
        "  door: {source: 'rtsp://127.0.0.1:9/user=x_password=tok3n?auth=tok3n', user: c4mera-us3r,"
        " password_file: password}\n"
        "  roof: {source: 'rtsp://127.0.0.1:9/a,b=tok3n c=tok3n'}\n"
        "  yard: {source: 'http://127.0.0.1:9/stream?key=tok3n', user: c4mera-us3r, password_env: YARD}\n"
        f"security: {{key: hub.key, allow: [{tmp_path}/sw0rdfish.pub]}}\n"
        "mqtt: {address: 'mqtt://127.0.0.1', user: br0ker-us3r, password_file: broker}\n"
    )
    bundle = tmp_path / "board.tar.gz"
    secret = {"YARD": "open-barrel", "EDGED_CAMERAS__DOOR__USER": "c4mera-us3r", **NO_OPENCL}

    # when
    done = edged("doctor", config, "--json", "--bundle", bundle, env=secret)

    # then
    report = json.loads(done.stdout)
    assert report["facts"]["config"]["node"] == "gate"
    assert report["facts"]["config"]["cameras"]["door"]["source"] == "rtsp://127.0.0.1:9/…"
    assert report["facts"]["overrides"] == ["EDGED_CAMERAS__DOOR__USER"]
    with tarfile.open(bundle) as archive:
        files = {member.name: archive.extractfile(member).read().decode() for member in archive}  # type: ignore[union-attr]
    assert sorted(files) == [f"edged-doctor/{name}" for name in ("config.json", "doctor.json", "doctor.txt")]
    for text in (done.stdout, done.stderr, *files.values()):
        assert [secret for secret in SECRETS if secret in text] == []


def test_a_bundle_needs_a_name_that_programs_know(tmp_path: Path) -> None:
    done = edged_here("doctor", "--bundle", tmp_path / "board.zip")
    assert done.returncode == 2
    assert "expected a name that ends in .tar.gz" in done.stderr


def test_urls_are_shortened_to_their_hosts() -> None:
    assert (
        without_paths("rtsp://a:b@cam:554 and http://cam/x?y, which", None)
        == "rtsp://cam:554 and http://cam/… which"
    )
