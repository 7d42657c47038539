"""The page docs/reference/architectures.md: what becomes of each export."""

from collections import Counter
from collections.abc import Sequence

from tests.conformance.zoo.compare import LARGEST_ERROR, ZooOutcome

HEAD = f"""# Architectures and their exports

Networks of torchvision and timm, and small detectors of transformers, with random weights, exported by both of
PyTorch's exporters: the older one, TorchScript, and the present one, dynamo. `make zoo` exports them and compares
the outputs for two pictures of noise, on an OpenCL device and in NumPy, with those of onnxruntime {{onnxruntime}}.
Those within {LARGEST_ERROR:g} of the range are right. The queries of a detector are compared with the nearest,
since equal scores are in no order; those that choose among queries choose all.

- kernels: kernels alone compute it.
- host: at least one operator, which the last column names, has no kernel, so that the host computes that.

"""


def page(outcomes: Sequence[ZooOutcome], onnxruntime: str) -> str:
    """Return the page for these outcomes, in the order in which they are given."""
    exported = [each for each in outcomes if each.result != "not exported"]
    count = Counter(each.result for each in exported)
    right = count["kernels"] + count["host"]
    every = len(exported)
    lines = [
        f"Right are {right} of {every} exports of {len({each.name for each in exported})} architectures: "
        f"{count['kernels']} ({count['kernels'] / max(1, every):.0%}) by kernels alone, {count['host']} with the "
        f"host; {count['refused']} are refused, {count['wrong']} are wrong.",
        "",
        "| library | architecture | exporter | result | |",
        "|---|---|---|---|---|",
        *(_row(each) for each in outcomes),
    ]
    return HEAD.format(onnxruntime=onnxruntime) + "\n".join(lines) + "\n"


def _row(each: ZooOutcome) -> str:
    detail = each.detail.replace("|", "\\|")
    return f"| {each.library} | `{each.name}` | {each.exporter} | {each.result} | {detail} |"
