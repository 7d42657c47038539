"""Write a small state directory with this version of edged: `python -m tests.state.write`.

Run it once, when a version is tagged: what it writes stays in `versions/VERSION`; every later edged must open it.
A taught version is kept without its `.onnx`, 1.5 MB that edged writes and never reads.
"""

import os
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

from edged import __version__

HERE = Path(__file__).resolve().parent
NODE = "board"
STREAM = "EDGED_PREDICTIONS 2026-11-01"
DIGEST = sha256(b"a network").hexdigest()
PREDICTIONS = ("--count", "20", "--set", f"node={NODE}", "--set", "workers.0.device=numpy")


def main() -> None:
    """Write the folder of this version, in place of an earlier one."""
    folder = HERE / "versions" / __version__
    shutil.rmtree(folder, ignore_errors=True)
    os.environ["STATE_DIRECTORY"] = str(folder)
    subprocess.run([sys.executable, "-m", "edged", "demo", "--json", *PREDICTIONS], check=True)
    _teach()
    _tune(folder)
    _roll_out(folder)
    for path in [*folder.glob("**/*.lock"), *folder.glob("**/versions/*.onnx")]:
        path.unlink()


def _teach() -> None:
    from edged import config
    from edged.model.head import features_of
    from edged.model.head_versions import PromotedRecord, save_promoted, teach_folder
    from edged.model.package import load_model
    from edged.teach.fit import FitSettings, first_head
    from edged.teach.versions import write_version
    from tests.teach.crops import a_store

    folder = teach_folder(NODE)
    a_store(folder, count=2, side=16)
    model = load_model(config.ModelConfig(name="digits"))
    (features,) = features_of(model.graph).shape
    head = first_head(features, 2, FitSettings(hidden=2, seed=1))
    version = write_version(folder, model, head, ("bar", "disc"), 1, {"crops": 2, "right": 2})
    save_promoted(folder, PromotedRecord().promote(version.sha256))


def _tune(folder: Path) -> None:
    from edged.engine.tuning_records import MeasuredOn, TuningRecord, write_json

    device = MeasuredOn(platform="Portable Computing Language", name="cpu", driver="3.1")
    write_json(folder / "tuned/cpu.json", TuningRecord(edged=__version__, device=device))


def _roll_out(folder: Path) -> None:
    from edged.bridge.jetstream import PlaceFile, StreamPlace
    from edged.bridge.nats import place_path
    from edged.fleet.board import BoardFiles, RolloutProgress
    from edged.fleet.records import SignedModel

    PlaceFile(place_path(NODE)).write(STREAM, StreamPlace("a boot", 19, 7))
    model = SignedModel(name="doors", file="doors.onnx", sha256=DIGEST, size=9)
    progress = RolloutProgress(rollout="r1", phase="watching", model=model, before="first.onnx")
    BoardFiles(folder / "net.onnx", NODE).save(progress)


if __name__ == "__main__":
    main()
