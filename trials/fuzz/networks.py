"""`python -m trials.fuzz.networks`: random networks, as read and as simplified, answer as in onnxruntime."""

import argparse
import logging
from pathlib import Path
from tempfile import TemporaryDirectory

import hypothesis
import numpy as np
from hypothesis import HealthCheck, given, settings

from edged.model import reference
from edged.model.from_onnx.ends import is_channels_last
from edged.model.from_onnx.file import read_file
from edged.model.onnx_reader import read_onnx
from edged.model.passes import simplify
from tests.model.onnx_files import Network, onnxruntime_outputs
from tests.model.random_networks import image_of, networks


def compare(examples: int, seed: int = 0) -> None:
    """Compare so many networks, the same for each seed. Raises AssertionError with the smallest that is wrong."""
    quiet = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

    @hypothesis.seed(seed)
    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=quiet)
    @given(networks())
    def each(network: Network) -> None:
        _compare(network)

    each()


def _compare(network: Network) -> None:
    x = image_of(network)
    with TemporaryDirectory() as folder:
        path = network.save(Path(folder) / "network.onnx")
        expected = onnxruntime_outputs(path, x)
        graph = read_onnx(path)
        if is_channels_last(read_file(path), "input"):  # rows, columns, channels, as TensorFlow has them
            x = x.transpose(0, 3, 1, 2)
    largest = max(1.0, float(np.abs(expected).max()))
    for each in (graph, simplify(graph)):
        found = reference.run(each, x.reshape(1, *each.shapes[each.input]))
        assert np.allclose(found, expected, rtol=1e-3, atol=1e-4 * largest), (found, expected)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m trials.fuzz.networks", description=__doc__)
    parser.add_argument("--examples", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0, help="another one: other networks")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    compare(arguments.examples, arguments.seed)
    print(f"networks: {arguments.examples} of seed {arguments.seed} are right")
