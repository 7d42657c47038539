"""What `edged check` finds of the version that was promoted to answer in place of the config's model."""

from collections.abc import Iterator

from edged.cli.finding import Finding
from edged.config import Config
from edged.errors import ModelError
from edged.model.package import load_model
from edged.taught import load_head, load_promoted, load_version, teach_folder

INSTEAD = "the config's model would answer"


def taught_findings(config: Config) -> Iterator[Finding]:
    """Nothing where none was promoted."""
    folder = teach_folder(config.node)
    try:
        promoted = load_promoted(folder).version
        if promoted is None:
            return
        version = load_version(folder, promoted)
        load_head(folder, version)
    except ModelError as error:
        yield Finding("warning", "taught", f"{error}; {INSTEAD}")
        return
    try:
        model = load_model(config.model, lazily=True)
    except ModelError:
        return  # which has its own line
    if version.base.sha256 == model.sha256:
        yield Finding("ok", "taught", f"version {version} answers, on top of {model.name}")
        return
    text = f"version {version} was taught to {version.base.name} ({version.base.sha256[:12]}), another model"
    yield Finding("warning", "taught", f"{text}; {INSTEAD} (`edged teach CONFIG --train`, or `--rollback`)")
