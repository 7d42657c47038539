"""Run the tests of single nodes, and write what became of them: python -m tests.conformance.

`python -m tests.conformance zoo` exports whole architectures, and compares those.
"""

import sys
from pathlib import Path

from tests.conformance.node_cases import node_cases
from tests.conformance.outcome import outcome
from tests.conformance.page import page

PAGE = Path("docs/reference/operators.md")

if __name__ == "__main__":
    if sys.argv[1:2] == ["zoo"]:
        from tests.conformance.zoo.run import main

        sys.exit(main(sys.argv[2:]))
    outcomes = {kind: [outcome(case) for case in cases] for kind, cases in node_cases().items()}
    PAGE.write_text(page(outcomes), "utf-8")
    for found in (found for each in outcomes.values() for found in each if found.result == "wrong"):
        print(f"{found.name}: {found.detail}")
    print(f"wrote {PAGE}")
