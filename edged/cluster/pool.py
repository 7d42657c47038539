"""Map rows by a pool of Ray actors: one a device, each warm once.

Ray restarts an actor that was killed, and gives its rows to another one: a row may be mapped twice. Needs ray, an
optional dependency.
"""

import logging
import os
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ray
import ray.data

from edged import errors
from edged.cluster.node import ClusterOptions
from edged.errors import ConfigError

ANSWER_S = 5.0  # longest wait for a sign that Ray listens at an address
FRAME_HEADER, HTTP2_SETTINGS = 9, b"\x04"  # bytes of a frame's header; its type is the fourth
MOST_TASKS = 4096  # each takes one row, or several where there are more
IN_FLIGHT = 2  # tasks of an actor, so that it never waits for the next one

Actor = Callable[[dict[str, Any]], dict[str, list[Any]]]


def map_on_actors(
    cluster: ClusterOptions, actor: Callable[..., Actor], options: object, rows: Sequence[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Yield what the actors, made of `options`, return for each row, in any order.

    Raises ConfigError without a Ray cluster or without the resource, and the errors of the nodes (see
    `edged.cluster.node.error_columns`).
    """
    _connect(cluster.address)
    devices = _devices_of(cluster)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    blocks = ray.data.from_items(list(rows), override_num_blocks=min(len(rows), MOST_TASKS))
    answered = blocks.map_batches(
        actor,
        fn_constructor_args=(options,),
        batch_size=1,
        compute=ray.data.ActorPoolStrategy(size=devices, max_tasks_in_flight_per_actor=IN_FLIGHT),
        num_cpus=0,
        resources={cluster.resource: 1},
    )
    for row in answered.iter_rows():
        if row["error"]:
            raise getattr(errors, row["kind"])(row["error"])
        yield row


@contextmanager
def ray_messages(path: Path) -> Iterator[None]:
    """Write what Ray prints into a file, and disconnect at the end: it prints on both standard streams.

    Meanwhile `sys.stderr` is the former standard error.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    sys.stdout.flush()
    sys.stderr.flush()
    output = os.dup(1)
    with path.open("ab") as file, os.fdopen(os.dup(2), "w", buffering=1) as former:
        replaced, sys.stderr = sys.stderr, former
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            ray.shutdown()
            sys.stdout.flush()
            sys.stderr = replaced
            os.dup2(output, 1)
            os.dup2(former.fileno(), 2)
            os.close(output)


def _connect(address: str) -> None:
    """Connect to the cluster. Raises ConfigError."""
    _require_ray(address)
    logging.getLogger("ray.data").setLevel(logging.WARNING)
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        hint = "if its nodes have a token, set RAY_AUTH_MODE=token and that token here too"
        raise ConfigError(f"--ray {address}: {reason or type(error).__name__}; {hint}") from None


def _require_ray(address: str) -> None:
    """Raise ConfigError if no gRPC server listens at HOST:PORT: Ray itself waits for minutes, or for ever."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdecimal():
        return
    try:
        with socket.create_connection((host.strip("[]"), int(port)), ANSWER_S) as connection:
            if not os.environ.get("RAY_USE_TLS") and not _speaks_http2(connection):
                raise ConnectionError("something else answered")
    except (OSError, OverflowError) as error:
        raise ConfigError(
            f"--ray {address}: not a Ray head node: {error}; start one by `ray start --head`, or name another"
        ) from None


def _speaks_http2(connection: socket.socket) -> bool:
    """Return whether the server answers as HTTP/2, which gRPC needs (RFC 9113, 3.4: SETTINGS comes first).

    Raises OSError if it says nothing.
    """
    connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + HTTP2_SETTINGS + bytes(5))
    header = b""
    while len(header) < FRAME_HEADER and (more := connection.recv(FRAME_HEADER - len(header))):
        header += more
    return header[3:4] == HTTP2_SETTINGS


def _devices_of(cluster: ClusterOptions) -> int:
    """Return how many actors to start. Raises ConfigError if the cluster has no such resource."""
    found = int(ray.cluster_resources().get(cluster.resource, 0))
    if found < 1:
        start = f"ray start … --resources '{{\"{cluster.resource}\": 1}}'"
        raise ConfigError(
            f"--ray {cluster.address}: no node has the resource `{cluster.resource}`: start each by `{start}`"
        )
    return min(found, cluster.actors or found)
