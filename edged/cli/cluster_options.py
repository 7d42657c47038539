"""Command-line options for a Ray cluster, and what they mean for each of its nodes."""

import argparse
from contextlib import AbstractContextManager, nullcontext
from dataclasses import astuple
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from edged import __version__, config
from edged.cli.model_options import add_input_options, add_plan_options, model_config
from edged.cli.options import add_json, positive
from edged.errors import ConfigError
from edged.system.python_packages import install_command

if TYPE_CHECKING:
    from edged.cluster.node import ClusterOptions, NodeOptions
    from edged.model.package import Model


def add_cluster(parser: argparse.ArgumentParser) -> None:
    """Add --threads, --ray, --resource and --actors."""
    threads = "CPU threads of the device (PoCL, numpy), as in the config (default: all)"
    parser.add_argument("--threads", type=positive, metavar="N", help=threads)
    group = parser.add_argument_group("Ray cluster")
    address = "run on this Ray cluster: HOST:6379, or auto for that of this host"
    group.add_argument("--ray", metavar="HOST:PORT", help=address)
    resource = "Ray resource of which each node has one per device (default: opencl)"
    group.add_argument("--resource", default="opencl", metavar="NAME", help=resource)
    actors = "largest number of devices to use (default: all)"
    group.add_argument("--actors", type=positive, metavar="N", help=actors)


def add_network_run(parser: argparse.ArgumentParser) -> None:
    """Add how a network is run over many pictures: device, plan, cluster, input and --json."""
    add_plan_options(parser, device="device, as in the config, or numpy")
    add_cluster(parser)
    add_input_options(parser, "input of the model, if its file does not describe it")
    add_json(parser)


def require_ray(arguments: argparse.Namespace) -> None:
    """Raise ConfigError if --ray is given and ray is not installed."""
    if arguments.ray:
        require("ray", "--ray", "ray[data,default]")


def require(module: str, what: str, package: str = "") -> None:
    """Raise ConfigError, which names the `package` to install for `what`, if there is no such module."""
    if find_spec(module) is None:
        raise ConfigError(f"{what} needs {package or module}: {install_command(package or module)}")


def worker_config(arguments: argparse.Namespace) -> config.WorkerConfig:
    """Build the config section of --device, --batch, --precision and --threads. Raises ConfigError."""
    try:
        return config.WorkerConfig(
            device=arguments.device,
            batch=arguments.batch,
            precision=arguments.precision,
            threads=arguments.threads,
        )
    except ValidationError as error:
        first = error.errors()[0]
        raise ConfigError(f"--{first['loc'][0]}: {first['msg']}") from None


def cluster_of(arguments: argparse.Namespace) -> "ClusterOptions":
    from edged.cluster.node import ClusterOptions

    return ClusterOptions(arguments.ray, arguments.resource, arguments.actors)


def node_options(arguments: argparse.Namespace, model: "Model", *folders: Path) -> "NodeOptions":
    """Return what every node needs. `folders`: required there."""
    from edged.cluster.node import NodeOptions

    wanted = model_config(arguments)
    wanted = wanted.model_copy(
        update={key: path.absolute() for key in ("path", "labels") if (path := getattr(wanted, key))}
    )
    return NodeOptions(__version__, wanted, model.sha256, worker_config(arguments), folders)


def preparation_of(model: "Model") -> list[object]:
    """Return how pictures are prepared, and how scores or boxes are made, on which answers depend."""
    from edged.model.scores import score_rule

    wanted = model.input
    prepared = [wanted.width, wanted.height, wanted.color, wanted.scale, wanted.mean, wanted.std, wanted.resize]
    if model.detector is None:
        return [*prepared, astuple(score_rule(model))]
    limits = model.detector.limits
    boxes = [sorted(set(limits.thresholds)), limits.overlap, limits.across, limits.most, limits.smallest]
    return [*prepared, model.detector.decode, *boxes]


def messages_of_ray(arguments: argparse.Namespace, log: Path) -> AbstractContextManager[None]:
    """Write what Ray prints into the file `log`, if --ray is given."""
    if not arguments.ray:
        return nullcontext()
    from edged.cluster.pool import ray_messages

    return ray_messages(log)
