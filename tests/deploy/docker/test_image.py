"""deploy/docker/Dockerfile without Docker: its steps in roots of Debian 12, then the demo in what they made."""

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from edged import __version__
from tests.conftest import ROOT
from tests.deploy.docker.dockerfile import context, instructions, script, values

FOLDER = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "edged-opencl")
NO_ROOT = 77
DOCKERFILE = instructions((ROOT / "deploy/docker/Dockerfile").read_text())
PROGRAM = "/opt/edged/bin/edged"
# the daemon with the demo's config, then what Docker asks it; the root is read-only, and the user is edged
CHECKS = """
close_root
start edged {program} demo --count 20 --json --set workers.0.device=cpu
demo=/opt/edged/lib/python3.11/site-packages/edged/demo.yaml
start edged {program} run $demo >/dev/null 2>&1 &
for attempt in $(seq 120); do
    sleep 1
    ! start edged {health} 2>/dev/null || exit 0
done
echo 'the health check never passed' >&2
exit 1
"""


def test_it_has_labels_a_health_check_a_user_and_volumes() -> None:
    assert json.loads(values(DOCKERFILE, "ENTRYPOINT")[-1]) == [PROGRAM]
    assert values(DOCKERFILE, "USER") == ["edged"]
    assert json.loads(values(DOCKERFILE, "VOLUME")[-1]) == ["/var/lib/edged", "/var/cache/edged"]
    assert f"VERSION={__version__} " in values(DOCKERFILE, "ARG")[-1]
    labels = values(DOCKERFILE, "LABEL")[-1]
    for name in ("title", "description", "version", "revision", "licenses"):
        assert f"org.opencontainers.image.{name}=" in labels


@pytest.mark.deep
def test_its_steps_make_an_image_in_which_the_demo_is_right_and_the_health_check_passes(tmp_path: Path) -> None:
    source = tmp_path / "context"
    source.mkdir()
    for path in context(ROOT, (ROOT / "deploy/docker/Dockerfile.dockerignore").read_text()):
        copy = source / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            shutil.copytree(path, copy, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(path, copy)
    (_, command) = values(DOCKERFILE, "HEALTHCHECK")[-1].split("CMD ", maxsplit=1)
    checks = CHECKS.format(program=PROGRAM, health=shlex.join(json.loads(command)))
    (tmp_path / "script").write_text(script(DOCKERFILE) + checks)

    image = ["tests/deploy/docker/image.sh", str(FOLDER), str(tmp_path / "script"), str(source)]
    done = subprocess.run(image, cwd=ROOT, capture_output=True, text=True, timeout=1200, check=False)

    if done.returncode == NO_ROOT:
        pytest.skip(done.stderr.splitlines()[-1].removeprefix("edged: "))
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    summary = json.loads(done.stdout)
    assert (summary["predictions"], summary["accuracy"]) == (20, 1.0)
