"""The levels of packages, the highest first; `tests/test_layers.py` proves them."""

LEVELS = (  # a package imports those of the levels below its own alone
    {"__main__"},
    {"cli"},
    {"quantization", "doctor"},
    {"compress"},
    {"teach", "evaluation", "inference", "batch", "fleet", "split"},
    {"cluster"},
    {"hub", "camera", "worker", "view", "bridge", "train"},  # processes, which never import each other
    {"client", "runtime", "drawing", "tracing"},
    {"engine", "energy"},
    {"model"},
    {"config", "metrics", "web"},
    {"transport", "pictures", "detection", "tracking"},
    {"system"},
    {"messages"},
    {"errors", "clock", "arithmetic"},
)
HUB = (  # what is below imports nothing above it
    {"wiring"},
    {"hub"},
    {"control", "status", "supervision"},
    {"reload", "recorder", "teaching", "systemd_service"},
    {"pipeline"},
    {"node"},
    {"workers"},
    {"cameras"},
    {"children", "publish"},
    {"stats", "client_session"},
    {"links", "journal", "signals", "liveness"},
    {"service_threads"},
    {"frames", "events"},
)
WORKSHOP = {"train", "compress", "quantization", "evaluation", "batch", "cluster", "split", "engine.tuning"}
DOOR = "teach → train"  # new labels are trained on the board
