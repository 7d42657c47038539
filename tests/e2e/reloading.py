"""Another config for a daemon that runs."""

import json
import signal
from pathlib import Path
from typing import Any

from tests.cli.command import edged
from tests.e2e.daemon import Daemon


def written(daemon: Daemon, **sections: Any) -> Path:
    """Write the daemon's config, changed by `sections`; return its path."""
    path = daemon.folder / "edged.yaml"
    path.write_text(json.dumps({**daemon.config, **sections}))
    return path


def hang_up(daemon: Daemon, **sections: Any) -> None:
    """Let the daemon read a config, by the signal, that `edged reload` would reject itself."""
    written(daemon, **sections)
    daemon.process.send_signal(signal.SIGHUP)


def reload(daemon: Daemon, **sections: Any) -> tuple[int, str]:
    """Write the daemon's config, changed by `sections`; return exit code and messages of `edged reload`."""
    path = written(daemon, **sections)
    done = edged("reload", path, env={"XDG_STATE_HOME": str(daemon.folder)})
    return done.returncode, done.stderr
