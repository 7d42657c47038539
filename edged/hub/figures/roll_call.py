"""Asks each part of the hub how its cameras and workers stand."""

from edged.hub.cameras.cameras import Cameras
from edged.hub.figures.standing import Standing
from edged.hub.frames.router import Router
from edged.hub.workers.group import AnySeat
from edged.hub.workers.supervisor import Supervisor
from edged.hub.workers.workers import Workers
from edged.messages import CameraState, WorkerIs, WorkerState


def standing(router: Router, cameras: Cameras, supervisor: Supervisor, workers: Workers) -> Standing:
    """As it is now. Unchecked, as 64 cameras are told of each second: it is the hub's own word."""
    return Standing(
        {name: _camera(name, router, cameras) for name in router.cameras if name not in cameras.states.removed},
        {seat.name: _worker(seat, supervisor, workers) for seat in supervisor.seats},
        workers.answers.energy,
    )


def _camera(name: str, router: Router, cameras: Cameras) -> CameraState:
    ledger = router.cameras[name].ledger
    return CameraState.model_construct(
        up=cameras.states.is_up(name),
        frozen=cameras.states.is_frozen(name),
        ended=name in cameras.states.ended,
        error=cameras.states.error(name),
        captured=ledger.captured,
        predicted=ledger.predicted,
        dropped={reason: frames for reason, frames in ledger.dropped.items() if frames},
        reconnects=cameras.states.reconnects[name],
        snapshots=cameras.sends_snapshots(name),
    )


def _worker(seat: AnySeat, supervisor: Supervisor, workers: Workers) -> WorkerState:
    hello = workers.hellos.get(seat.name)
    return WorkerState.model_construct(
        device=hello.device if hello else seat.device,
        state=_state(seat, ready=hello is not None, serves=seat.name in supervisor.serving),
        restarts=supervisor.losses[seat.name],
    )


def _state(seat: AnySeat, *, ready: bool, serves: bool) -> WorkerIs:
    if ready:
        return "serving" if serves else "up"
    if seat.warming_up_s is not None:
        return "starting"
    return "off" if seat.rests else "down"
