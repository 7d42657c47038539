"""Format the results of `edged profile`: one line per kernel and the remaining time, or two plans side by side."""

from dataclasses import asdict, dataclass
from typing import Any

from edged.arithmetic import quartiles
from edged.config import Precision
from edged.engine.device import Device
from edged.engine.peaks import Peaks
from edged.engine.profile import KernelProfile, Profile, side_by_side
from edged.model.cost import macs
from edged.model.package import Model
from edged.system.machine_state import ANY, LEFT_OUT, Account
from edged.system.plain_text import counted, short_number
from edged.system.terminal import room_for_names, shortened

PROFILE_COLUMNS = 2 + 19 + 9 + 8 + 6 + 2 + 15 + 6  # beside the layers' names
COMPARE_COLUMNS = 2 + 19 + 9 + 2 + 19 + 9 + 7
CACHE = "     cache"  # below the names of the roofs
ABOVE = "     above"
US = 1e6
MS = 1e3


@dataclass(frozen=True)
class Subject:
    """What was profiled.

    `macs`: of one frame; `conv`: the requested variant; `worker`: name of a daemon's worker.
    """

    model: str
    width: int
    height: int
    macs: int
    random_weights: bool
    device: str
    precision: str
    conv: str
    worker: str | None = None

    @classmethod
    def of(cls, model: Model, device: Device, precision: Precision, conv: str) -> "Subject":
        """Describe a model on a device of this process."""
        model_input, network = model.input, macs(model.graph)
        size = model_input.width, model_input.height
        return cls(model.name, *size, network, model.random_weights, device.name, precision, conv)


@dataclass(frozen=True, eq=False)
class Report:
    """A profile and its subject. `peaks`: None if they were never measured.

    `account`: which runs count; None for a worker on a GPU or on another host. `peaks_state`: that of the machine
    when the peaks were measured; `ANY` if that is unknown.
    """

    subject: Subject
    peaks: Peaks | None
    profile: Profile
    account: Account | None = None
    peaks_state: str = ANY

    @property
    def title(self) -> str:
        what, worker = self.subject, f", worker {self.subject.worker}" if self.subject.worker else ""
        return (
            f"{what.model} {what.width}×{what.height}, batch {self.profile.frames}, "
            f"{what.macs / 1e6:.1f} MMAC a frame, {what.precision}, on {what.device}{worker}"
        )

    @property
    def roofs(self) -> str:
        if self.peaks is None:
            return "roofs: not known there; `edged profile` measures them while the device has nothing else to do"
        flops, nbytes = self.peaks.flops_per_s / 1e9, self.peaks.bytes_per_s / 1e9
        when = "by `edged profile`, the last time" if self.subject.worker else "here"
        most = f"{short_number(flops)} GFLOP/s, and {short_number(nbytes)} GB/s from memory"
        if self.are_roofs_disturbed:
            return f"roofs: too low to compare with, since their measurement was {self.peaks_state} (got {most})"
        return f"measured {when}: at most {most}"

    @property
    def are_roofs_disturbed(self) -> bool:
        """Whether the roofs may be too low: other programs took part of the processors meanwhile."""
        return self.peaks_state in LEFT_OUT

    def share_of_frame(self, kernel: KernelProfile) -> float:
        return kernel.seconds / self.profile.wall_s

    def as_table(self) -> str:
        """Format one line per kernel, and their sum against the wall time."""
        kernels = self.profile.kernels
        wide = room_for_names((kernel.cost.operator for kernel in kernels), PROFILE_COLUMNS)
        short = shortened((kernel.cost.operator for kernel in kernels), wide)
        heading = f"{'layer':{wide}}  {'kernel':19}{'µs':>9}{'GFLOP/s':>8}{'GB/s':>6}  {'roofline':15}{'frame':>6}"
        lines = (f"{short[kernel.cost.operator]:{wide}}{self._figures(kernel)}" for kernel in kernels)
        return "\n".join([self.title, self.roofs, heading, *lines, *self._sums()])

    def _figures(self, kernel: KernelProfile) -> str:
        cost = kernel.cost
        speed = f"{kernel.flops_per_s / 1e9:8.1f}" if cost.macs else f"{'':8}"
        return (
            f"  {cost.kernel:19}{kernel.seconds * US:9.1f}{speed}"
            f"{kernel.bytes_per_s / 1e9:6.1f}  {self.of_roofline(kernel):15}{self.share_of_frame(kernel):6.1%}"
        )

    def of_roofline(self, kernel: KernelProfile) -> str:
        """Format the share of the lower roof; above it, why: no kernel is faster than a roof that holds for it."""
        if self.peaks is None or self.are_roofs_disturbed:
            return ""
        share, bound = kernel.share_of_bound(self.peaks), kernel.bound(self.peaks)
        if share > 1:
            return {"memory": CACHE, "arithmetic": ABOVE}[bound]
        return f"{share:.0%}".rjust(4) + f" {bound}"

    def _sums(self) -> list[str]:
        profile, count = self.profile, len(self.profile.kernels)
        rest_s = profile.wall_s - profile.forward_s
        gap_us = profile.gaps_s * US / max(1, count - 1)
        return [
            f"{counted(count, 'kernel')}: {profile.kernels_s * MS:.3f} ms{self._least()}",
            f"gaps between them: {profile.gaps_s * MS:.3f} ms, {gap_us:.1f} µs each",
            f"before and after: {rest_s * MS:.3f} ms (upload, download, waking up)",
            f"wall time of a job: {profile.wall_s * MS:.3f} ms, median of {len(profile.runs)}",
            f"submitting, of that: {profile.submit_s * MS:.3f} ms on the host",
            *self._machine(),
        ]

    def _machine(self) -> list[str]:
        """Format the state of the machine, with the middle half of the wall times."""
        if self.account is None:
            return []
        low, _, high = (value * MS for value in quartiles([run.wall_s for run in self.profile.runs]))
        lines = [str(self.account), f"middle half of the wall times: {low:.3f} to {high:.3f} ms"]
        if self.peaks_state not in {ANY, *LEFT_OUT, self.account.state or self.peaks_state}:
            lines.append(f"WARNING: the roofs were measured in another state: {self.peaks_state}")
        return lines

    def _least(self) -> str:
        if (peaks := self.peaks) is None or self.are_roofs_disturbed:
            return ""
        least_s = sum(min(1.0, kernel.share_of_bound(peaks)) * kernel.seconds for kernel in self.profile.kernels)
        return f" (the roofline's bound: {least_s * MS:.3f} ms)"

    def compared_with(self, other: "Report") -> str:
        """Format one line per layer, with the kernels of both plans and the ratio of their times."""
        pairs = side_by_side(self.profile.kernels, other.profile.kernels)
        wide = room_for_names((mine.cost.operator for mine, _ in pairs), COMPARE_COLUMNS)
        short = shortened((mine.cost.operator for mine, _ in pairs), wide)
        lines = [
            f"{short[mine.cost.operator]:{wide}}  {mine.cost.kernel:19}{mine.seconds * US:9.1f}"
            f"  {theirs.cost.kernel:19}{theirs.seconds * US:9.1f}{theirs.seconds / mine.seconds:7.2f}"
            for mine, theirs in pairs
        ]
        heading = (
            f"{'layer':{wide}}  {self.subject.conv:19}{'µs':>9}  {other.subject.conv:19}{'µs':>9}{'ratio':>7}"
        )
        sums = (
            ("kernels", self.profile.kernels_s, other.profile.kernels_s),
            ("gaps", self.profile.gaps_s, other.profile.gaps_s),
            ("wall time", self.profile.wall_s, other.profile.wall_s),
        )
        lines += [
            f"{name:{max(wide, 9)}}  {'':19}{mine * US:9.1f}  {'':19}{theirs * US:9.1f}{theirs / mine:7.2f}"
            for name, mine, theirs in sums
        ]
        return "\n".join([self.title, heading, *lines, *([str(self.account)] if self.account else [])])

    def as_object(self) -> dict[str, Any]:
        """Return the profile for JSON: seconds, operations and bytes, in base units."""
        profile, what = self.profile, self.subject
        return {
            "model": what.model,
            "random_weights": what.random_weights,
            "size": what.width if what.width == what.height else [what.width, what.height],
            "macs": what.macs,
            "batch": profile.frames,
            "device": what.device,
            "precision": what.precision,
            "conv": what.conv,
            "runs": len(profile.runs),
            "peaks": self.peaks and asdict(self.peaks),
            "seconds": {
                "wall": profile.wall_s,
                "forward": profile.forward_s,
                "kernels": profile.kernels_s,
                "gaps": profile.gaps_s,
                "submit": profile.submit_s,
                "quartiles": list(quartiles([run.wall_s for run in profile.runs]))[::2],
            },
            "machine": self.account and self.account.as_object() | {"peaks": self.peaks_state},
            "kernels": [self.kernel_as_object(kernel) for kernel in profile.kernels],
        }

    def kernel_as_object(self, kernel: KernelProfile) -> dict[str, Any]:
        return {
            "operator": kernel.cost.operator,
            "kernel": kernel.cost.kernel,
            "seconds": kernel.seconds,
            "macs": kernel.cost.macs,
            "bytes": kernel.cost.nbytes,
            "flops_per_s": kernel.flops_per_s,
            "bytes_per_s": kernel.bytes_per_s,
            "bound": self.peaks and kernel.bound(self.peaks),
            "share_of_bound": self.peaks and kernel.share_of_bound(self.peaks),
            "share_of_frame": self.share_of_frame(kernel),
        }
