"""Check a config and print the findings, for `edged check` and `edged init`."""

import json
from dataclasses import asdict

from edged.config.load import ConfigSource
from edged.doctor.check import Checked, check_config
from edged.errors import ConfigError
from edged.system.paths import own_cache
from edged.system.plain_text import printable_lines
from edged.system.terminal import show


def print_check(
    source: ConfigSource, host: str | None = None, *, is_quick: bool, is_offline: bool = False, as_json: bool
) -> int:
    """Check and print as `edged check` does; return its exit code. Raises ConfigError."""
    with own_cache():
        checked = check_config(source, host, is_quick=is_quick, is_offline=is_offline)
    if as_json:
        findings = [asdict(finding) for finding in checked.findings]
        result = {"config": str(source.path), "host": checked.host, "errors": checked.errors, "findings": findings}
        print(json.dumps(result, ensure_ascii=False))
    else:
        width = max((len(finding.what) for finding in checked.findings), default=0)
        for finding in checked.findings:
            show(f"{finding.level:8} {finding.what:{width}}  {printable_lines(finding.text)}", width + 11)
        print(f"{source.path}: {_verdict(checked, is_quick=is_quick)}")
    return ConfigError.exit_code if checked.errors else 0


def _verdict(checked: Checked, *, is_quick: bool) -> str:
    program = "`edged camera` or `edged worker`" if checked.host else "`edged run`"
    ready = "no error, but no device was tried" if is_quick else "ready to run"
    errors = checked.errors
    verdict = f"{program} would fail, {errors} error{'s' * (errors > 1)} above" if errors else ready
    return f"{verdict}{f' on {checked.host}' * bool(checked.host)}"
