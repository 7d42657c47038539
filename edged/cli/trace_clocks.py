"""Every clock of a recording, as the hub's host reads its own."""

from dataclasses import dataclass

from edged.cli.told import Process
from edged.messages import JobTimes


@dataclass(frozen=True, slots=True)
class DeviceClock:
    """What leads from a device's clock to that of its host, at most `error_ns` too late."""

    offset_ns: int
    error_ns: int


def device_clock(jobs: list[JobTimes]) -> DeviceClock | None:
    """A result cannot come before the device is through, nor can the device begin before it has the job.

    So each job bounds the difference from both sides, the quickest ones most. None where no device has a clock.
    """
    bounds = [
        (job.begun_ns - job.device.upload[0], job.done_ns - job.device.download[1]) for job in jobs if job.device
    ]
    if not bounds:
        return None
    least, most = max(low for low, _ in bounds), min(high for _, high in bounds)
    return DeviceClock(most, abs(most - least))


@dataclass(frozen=True, slots=True)
class Stages:
    """When a worker was at the stages of a job: from, to, by the hub's clock. `kernels`: empty unless timed."""

    job: JobTimes
    begun_ns: int
    submitted_ns: int
    done_ns: int
    taken_ns: int
    answered_ns: int
    upload: tuple[int, int]
    forward: tuple[int, int]
    download: tuple[int, int]
    kernels: tuple[tuple[int, int], ...]


def stages_of(process: Process) -> list[Stages]:
    """The jobs of a worker. Without a device's clock they are taken to end when their result is there."""
    clock, to_hub = device_clock(process.jobs), process.offset_ns

    def on_device(span: tuple[int, int]) -> tuple[int, int]:
        offset = to_hub + (clock.offset_ns if clock else 0)
        return span[0] + offset, span[1] + offset

    found = []
    for job in process.jobs:
        done_ns = job.done_ns + to_hub
        start_ns = done_ns - round(job.forward_s * 1e9)
        device, at_end = job.device, (done_ns, done_ns)
        found.append(
            Stages(
                job,
                job.begun_ns + to_hub,
                job.submitted_ns + to_hub,
                done_ns,
                job.taken_ns + to_hub,
                job.answered_ns + to_hub,
                on_device(device.upload) if device else (start_ns, start_ns),
                on_device(device.forward) if device else (start_ns, done_ns),
                on_device(device.download) if device else at_end,
                tuple(map(on_device, device.kernels)) if device else (),
            )
        )
    return found
