"""`edged init`: write a config for the camera and the model of this host, and check it."""

import argparse
import os
import re
import sys
from importlib.resources import files
from pathlib import Path

from edged.camera.discover import list_cameras
from edged.cli.model_options import add_model_options, given_keys, given_model
from edged.cli.options import add_example, add_json, add_quick
from edged.config import NAME, STREAMS, SYNTHETIC_PREFIX
from edged.config.load import ConfigSource
from edged.errors import ConfigError
from edged.system.files import write_result
from edged.system.own_command import name_config
from edged.system.terminal import note

NO_CAMERA = f"{SYNTHETIC_PREFIX}digits"
TEMPLATE = """\
# yaml-language-server: $schema={schema}
# Written by `edged init`. After a change: `edged check {file}`, then `edged reload {file}`.

cameras:
  {name}:                    # any number of cameras, each with a name of its own
    {source}
    # max_fps: 10            # frames above this rate are dropped, and counted
    # snapshot: {{}}           # small pictures for `edged view`, visible to all subscribers

{model}

workers:                     # in order of preference: the next one takes over where one cannot start
  - {{device: auto}}           # the first OpenCL GPU, else the first OpenCL CPU
  - {{device: numpy}}          # no OpenCL: slow, but predictions continue
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the file, the camera and the model."""
    file = "the file to write (default: edged.yaml)"
    parser.add_argument("file", type=Path, nargs="?", default=Path("edged.yaml"), metavar="FILE", help=file)
    source = "a device, its index, rtsp://…, a video, a folder of pictures, or synthetic:digits"
    parser.add_argument("--source", metavar="SOURCE", help=f"{source} (default: the first camera of this host)")
    parser.add_argument("--camera", default="camera", metavar="NAME", help="its name (default: camera)")
    parser.add_argument("--force", action="store_true", help="replace the file if it exists")
    add_model_options(parser)
    parser.set_defaults(model=None)  # then a question
    add_quick(parser)
    add_json(parser, "the findings of `edged check` as one JSON object")
    add_example(
        parser, "edged init", "edged init --camera door --source rtsp://10.0.0.20/stream1 --model net.onnx"
    )


def run(arguments: argparse.Namespace) -> int:
    """Prompt for missing values, write the file, and print the findings of `edged check`."""
    from edged.cli.findings import print_check

    file: Path = arguments.file
    if file.exists() and not arguments.force:
        raise ConfigError(f"{file} exists: name another file, or replace it with --force")
    if not re.match(NAME, arguments.camera):
        expected = "expected a name of letters, digits, - and _, such as front-door; a device goes to --source"
        raise ConfigError(f"--camera {arguments.camera}: {expected}")
    source = arguments.source or _asked("camera", _found_camera())
    arguments.model = arguments.model or _asked("model, an ONNX file or a name", "digits")
    write_result(file, config_text(file, arguments.camera, source, _model_lines(arguments, file)).encode())
    note(f"wrote {file}")
    name_config(file)
    code = print_check(ConfigSource(file), is_quick=arguments.quick, as_json=arguments.json)
    if not code:
        note(f"next: `edged run {file}`")
    return code


def config_text(file: Path, name: str, source: str, model: str) -> str:
    """Return a config with comments. model: the lines of its section."""
    from edged.cli.model_section import line_of

    number: int | str = int(source) if source.isdecimal() else _beside(source, file)
    schema = files("edged") / "edged.schema.json"
    return TEMPLATE.format(schema=schema, file=file, name=name, source=line_of("source", number), model=model)


def _asked(what: str, default: str) -> str:
    """Prompt on a terminal, where Enter takes the default; return the default where there is no terminal."""
    if not sys.stdin.isatty():
        return default
    print(f"{what} [{default}]: ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip() or default


def _found_camera() -> str:
    """Return the first camera that can be opened; without one, the camera that draws digits."""
    found = list_cameras()
    for camera in found:
        if camera.usable:
            note(f"camera {camera.path}: {camera.name}")
            return camera.path
    for camera in found:
        note(f"camera {camera.path} is left out: {camera.problem}")
    note(f"no camera can be opened; {NO_CAMERA} draws digits")
    return NO_CAMERA


def _model_lines(arguments: argparse.Namespace, file: Path) -> str:
    from edged.cli.model_section import config_lines

    model = given_model(arguments)
    keys = given_keys(arguments)
    if "labels" in keys:
        keys["labels"] = _beside(str(keys["labels"]), file)
    return config_lines(_beside(arguments.model, file), keys, model)


def _beside(name: str, file: Path) -> str:
    """Return a file's name as seen from the config, which resolves it against its own folder; others unchanged."""
    if name.startswith((SYNTHETIC_PREFIX, *STREAMS)) or not Path(name).exists():
        return name
    is_same_folder = file.absolute().parent == Path.cwd()
    return name if is_same_folder else os.path.abspath(name)
