"""Another config for a daemon that runs."""

import json
from typing import Any

from tests.cli.command import edged
from tests.e2e.daemon import Daemon


def reload(daemon: Daemon, **sections: Any) -> tuple[int, str]:
    """Write the daemon's config, changed by `sections`; return exit code and messages of `edged reload`."""
    path = daemon.folder / "edged.yaml"
    path.write_text(json.dumps({**daemon.config, **sections}))
    done = edged("reload", path, env={"XDG_STATE_HOME": str(daemon.folder)})
    return done.returncode, done.stderr
