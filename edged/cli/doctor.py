"""`edged doctor`: what is wrong with this board, and how to fix it."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from edged.cli.options import add_example, add_json, config_or_demo
from edged.cli.slow_steps import SlowSteps
from edged.doctor.collect import collect
from edged.doctor.judge_board import judge
from edged.doctor.report import check_name, page, write_bundle
from edged.messages.message import as_dict
from edged.system.own_command import as_typed
from edged.system.plain_text import printable_json
from edged.system.terminal import note

INSTALLED = Path("/etc/edged/edged.yaml")
TO_FIX = 1  # exit code


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the config and where the result goes."""
    what = f"the config (default: {INSTALLED} if it exists, else that of `edged run`)"
    parser.add_argument("config", type=Path, nargs="?", metavar="CONFIG", help=what)
    bundle = "also write an archive of the page, all facts and the config without secrets, to attach to a report"
    parser.add_argument("--bundle", type=Path, metavar="FILE.tar.gz", help=bundle)
    add_json(parser, "the facts and the findings as one JSON object")
    add_example(parser, "edged doctor", "edged doctor edged.yaml --bundle board.tar.gz")


def run(arguments: argparse.Namespace) -> int:
    """Print the page; exit code 1 if something must be fixed."""
    if arguments.bundle:
        check_name(arguments.bundle)
    steps = SlowSteps()
    facts = collect(
        arguments.config or (INSTALLED if INSTALLED.exists() else config_or_demo(None)), begin=steps.begin
    )
    steps.end()
    findings = judge(facts)
    text = as_typed(page(findings))
    system = {**asdict(facts.system), "host": as_dict(facts.system.host)}
    report = {"facts": {**asdict(facts), "system": system}, "findings": [asdict(each) for each in findings]}
    print(printable_json(json.dumps(report, ensure_ascii=False, default=str)) if arguments.json else text)
    if arguments.bundle:
        write_bundle(arguments.bundle, text, report)
        note(f"wrote {arguments.bundle}, which holds no passwords, keys or pictures: check it before you send it")
    return TO_FIX if any(finding.level == "error" for finding in findings) else 0
