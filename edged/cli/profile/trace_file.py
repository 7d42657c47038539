"""Write a profile as a trace in the JSON format that Perfetto and Chrome's viewer open.

"Trace Event Format" of the Chromium project: complete events ("X"), times in microseconds.
"""

import json
from collections.abc import Iterator
from typing import Any

from edged.cli.profile.report import Report
from edged.engine.profile import Run

JOBS = 5  # jobs in the trace: enough to see what repeats
HOST, DEVICE = 1, 2  # process numbers in the trace
THREADS = {(HOST, 1): "job", (DEVICE, 1): "upload", (DEVICE, 2): "kernels", (DEVICE, 3): "download"}

Event = dict[str, Any]


def trace(report: Report) -> str:
    """Build a trace of the first jobs, from the first one's submission on.

    Host and device have separate clocks: a job's download is assumed to end when the host has its scores.
    """
    events = [*_names(report)]
    for index, run in enumerate(report.profile.runs[:JOBS]):
        events += _job(report, run, index)
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ms", "otherData": _facts(report)})


def _facts(report: Report) -> dict[str, str]:
    return {"what": report.title, "roofs": report.roofs, "convolutions": report.subject.conv}


def _names(report: Report) -> Iterator[Event]:
    for process, name in ((HOST, "host"), (DEVICE, report.subject.device)):
        yield {"ph": "M", "name": "process_name", "pid": process, "tid": 0, "args": {"name": name}}
    for (process, thread), name in THREADS.items():
        yield {"ph": "M", "name": "thread_name", "pid": process, "tid": thread, "args": {"name": name}}


def _job(report: Report, run: Run, index: int) -> Iterator[Event]:
    result, origin = run.result, report.profile.runs[0].begun_s
    begun, submitted, done = run.begun_s - origin, run.submitted_s - origin, run.done_s - origin
    download = done - result.download_s
    first_kernel = download - result.forward_s
    yield _event("submit", (HOST, 1), begun, submitted - begun, {"job": index})
    yield _event("wait", (HOST, 1), submitted, done - submitted, {"job": index})
    yield _event("upload", (DEVICE, 1), first_kernel - result.upload_s, result.upload_s, {"job": index})
    for kernel, figures in zip(result.kernels, _figures(report), strict=True):
        start = first_kernel + kernel.started_s
        yield _event(kernel.operator, (DEVICE, 2), start, kernel.seconds, {"job": index} | figures)
    yield _event("download", (DEVICE, 3), download, result.download_s, {"job": index})


def _event(name: str, place: tuple[int, int], start_s: float, seconds: float, facts: Event) -> Event:
    process, thread = place
    times = {"ts": round(start_s * 1e6, 3), "dur": round(seconds * 1e6, 3)}
    return {"ph": "X", "name": name, "cat": THREADS[place], "pid": process, "tid": thread, **times, "args": facts}


def _figures(report: Report) -> list[Event]:
    """Return the median figures of each kernel over all runs."""
    return [
        {
            "kernel": kernel.cost.kernel,
            "MMAC": kernel.cost.macs / 1e6,
            "MB": kernel.cost.nbytes / 1e6,
            "median µs": round(kernel.seconds * 1e6, 1),
            "median GFLOP/s": round(kernel.flops_per_s / 1e9, 1),
            "median GB/s": round(kernel.bytes_per_s / 1e9, 1),
            "share of roofline": report.peaks and round(kernel.share_of_bound(report.peaks), 3),
        }
        for kernel in report.profile.kernels
    ]
