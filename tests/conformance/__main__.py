"""Run the tests of single nodes, and write what became of them: python -m tests.conformance."""

from pathlib import Path

from tests.conformance.node_cases import node_cases
from tests.conformance.outcome import outcome
from tests.conformance.page import page

PAGE = Path("docs/reference/operators.md")

if __name__ == "__main__":
    outcomes = {kind: [outcome(case) for case in cases] for kind, cases in node_cases().items()}
    PAGE.write_text(page(outcomes), "utf-8")
    for found in (found for each in outcomes.values() for found in each if found.result == "wrong"):
        print(f"{found.name}: {found.detail}")
    print(f"wrote {PAGE}")
