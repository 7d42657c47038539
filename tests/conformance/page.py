"""The page docs/reference/operators.md: what becomes of each operator's tests."""

from collections import Counter
from collections.abc import Mapping, Sequence

import onnx

from edged.model.from_onnx.file import MIN_OPSET
from edged.model.onnx_reader import CONVERTERS
from tests.conformance.outcome import Outcome

HEAD = f"""# Operators and their tests

The package `onnx` (here {onnx.__version__}) has tests of single nodes. Here each is a network: one input of
floats is the picture, the others are constants. `python -m tests.conformance` runs them, compares each output, and
writes this page; see [operators](models.md#operators) for the rules, which hold for operator sets {MIN_OPSET} to
{onnx.defs.onnx_opset_version()}.

- Kernels: kernels alone compute it, on OpenCL devices and in NumPy alike, with the attributes in the last column.
- Host: at least a part has no kernel, so that the host computes that.
- Constant: it is computed while the file is read.

Tests without floats are left out, since a network computes on pictures.

"""


def page(outcomes: Mapping[str, Sequence[Outcome]]) -> str:
    """Return the page for the outcomes by kind of operator, as `onnx` of one version has its tests."""
    total = Counter(found.result for each in outcomes.values() for found in each)
    right = total["kernels"] + total["host"] + total["constant"]
    every = total.total()
    lines = [
        f"Right are {right} of {every} tests ({right / every:.1%}): {total['kernels']} by kernels, "
        f"{total['host']} "
        f"with the host, {total['constant']} as constants; {total['rejected']} are rejected, "
        f"{total['wrong']} are wrong.",
        "",
        "| operator | kernels | host | constant | rejected | attributes of kernels |",
        "|---|---|---|---|---|---|",
        *(_row(kind, found) for kind, found in outcomes.items()),
        "",
        "## Rejected",
        "",
        "| operator | tests | reason |",
        "|---|---|---|",
        *_rejections(outcomes),
    ]
    return HEAD + "\n".join(lines) + "\n"


def _row(kind: str, outcomes: Sequence[Outcome]) -> str:
    count = Counter(found.result for found in outcomes)
    numbers = [str(count[result] or "") for result in ("kernels", "host", "constant", "rejected")]
    attributes = CONVERTERS[kind][1] if kind in CONVERTERS else ()
    return f"| `{kind}` | {' | '.join(numbers)} | {', '.join(f'`{name}`' for name in attributes)} |"


def _rejections(outcomes: Mapping[str, Sequence[Outcome]]) -> list[str]:
    reasons = Counter(
        (kind, found.reason) for kind, each in outcomes.items() for found in each if found.result == "rejected"
    )
    return [f"| `{kind}` | {count} | {reason} |" for (kind, reason), count in reasons.items()]
