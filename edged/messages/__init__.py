"""Messages that cross a link or are published, and their encoding.

A link connects the hub (ROUTER) with a camera or worker (DEALER). A message is `[JSON header, payload …]`: the
payload of a frame is its pixels; the payloads of a job are its frames' pixels in order, or one payload with the
features of all frames for a segment behind a cut.
A published message is `[topic, JSON]`; a snapshot has its JPEG as a third part.
All times `…_ns` are CLOCK_MONOTONIC of the hub's host.

`Name as Name` makes a name public here.
"""

from edged.messages.camera import LONGEST_WAIT_S as LONGEST_WAIT_S
from edged.messages.camera import USUAL_WAIT_S as USUAL_WAIT_S
from edged.messages.camera import (
    CameraCount as CameraCount,
    CameraHello as CameraHello,
    CameraReport as CameraReport,
    Capture as Capture,
    ClockAnswer as ClockAnswer,
    ClockRequest as ClockRequest,
    Frame as Frame,
    Grant as Grant,
    Hold as Hold,
    RequestCount as RequestCount,
    Snapshot as Snapshot,
    SnapshotSettings as SnapshotSettings,
)
from edged.messages.message import Greeting as Greeting, protocol_problem as protocol_problem
from edged.messages.worker import Frequency as Frequency, HostState as HostState
from edged.messages.link import (
    LinkMessage as LinkMessage,
    ReloadAnswer as ReloadAnswer,
    ReloadRequest as ReloadRequest,
    Stop as Stop,
    decode as decode,
    encode as encode,
)
from edged.messages.message import (
    SCHEMA as SCHEMA,
    Count as Count,
    EnergyMethod as EnergyMethod,
    Positive as Positive,
    Seconds as Seconds,
)
from edged.messages.worker import (
    AssignPart as AssignPart,
    CutPoint as CutPoint,
    Echo as Echo,
    MeasureAnswer as MeasureAnswer,
    MeasureRequest as MeasureRequest,
)
from edged.messages.protocol import PROTOCOL as PROTOCOL
from edged.messages.detection import FoundBox as FoundBox
from edged.messages.published import (
    SNAPSHOTS as SNAPSHOTS,
    STAGES as STAGES,
    Box as Box,
    boxes_of as boxes_of,
    Event as Event,
    Label as Label,
    Prediction as Prediction,
    PredictionEnergy as PredictionEnergy,
    PredictionModel as PredictionModel,
    Published as Published,
    ShadowAnswers as ShadowAnswers,
    SnapshotHeader as SnapshotHeader,
    StageSeconds as StageSeconds,
    prediction_from_json as prediction_from_json,
    snapshot_topic as snapshot_topic,
    to_json as to_json,
    topic as topic,
    labels_of as labels_of,
)
from edged.messages.recording import (
    DeviceTimes as DeviceTimes,
    Forwarded as Forwarded,
    JobTimes as JobTimes,
    KernelCost as KernelCost,
    Layers as Layers,
    ProfileRequest as ProfileRequest,
    RecorderHello as RecorderHello,
    RecordingEnded as RecordingEnded,
    RecordingStarted as RecordingStarted,
    RecordRequest as RecordRequest,
    TraceBatch as TraceBatch,
    TraceRequest as TraceRequest,
    TraceSpan as TraceSpan,
)
from edged.messages.replay import (
    EventsAnswer as EventsAnswer,
    EventsRequest as EventsRequest,
    ReplayAnswer as ReplayAnswer,
    ReplayFailure as ReplayFailure,
    ReplayRequest as ReplayRequest,
)
from edged.messages.published import (
    CameraState as CameraState,
    EnergySoFar as EnergySoFar,
    Status as Status,
    WorkerIs as WorkerIs,
    WorkerState as WorkerState,
)
from edged.messages.serving import FrameAnswer as FrameAnswer, ServedModel as ServedModel
from edged.messages.teaching import (
    CropSample as CropSample,
    HeadLoaded as HeadLoaded,
    LoadHead as LoadHead,
    PromoteAnswer as PromoteAnswer,
    PromoteRequest as PromoteRequest,
    ShadowResult as ShadowResult,
    TeachEnded as TeachEnded,
    TeachProgress as TeachProgress,
    TeachRequest as TeachRequest,
    TeachStarted as TeachStarted,
)
from edged.messages.worker import (
    Features as Features,
    HelloRequest as HelloRequest,
    IdleEnergy as IdleEnergy,
    Job as Job,
    JobFailed as JobFailed,
    ModelInfo as ModelInfo,
    OneLaunches as OneLaunches,
    Part as Part,
    Score as Score,
    Scores as Scores,
    WorkerHello as WorkerHello,
)
