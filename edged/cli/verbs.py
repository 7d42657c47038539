"""The verbs of the command line, in groups, and the help that lists them so."""

import argparse

GROUPS = {
    "start a node, and check it": {
        "demo": "start the daemon with a synthetic camera that draws digits: no config and no camera are required",
        "init": "write a config for the camera and the model of this host, and check it",
        "run": "start the daemon: cameras, workers, prediction stream, metrics",
        "check": "validate a config, its addresses, and its model on each device; list what would run",
        "compile": "compile the kernels of a config ahead, so that the next start need not",
        "reload": "reload the config of the running daemon",
        "doctor": "diagnose this board and its config, and print the commands that fix them",
        "devices": "list OpenCL devices, cameras and power sensors",
    },
    "see predictions, and pass them on": {
        "subscribe": "print predictions as they are published",
        "top": "show the state of cameras and workers in the terminal",
        "view": "serve a page that shows the cameras, workers and events of a node",
        "export": "write predictions of the journal as CSV, JSON lines or Parquet",
        "serve": "answer pictures that other programs send: Frigate's detector, or over HTTP",
        "bridge": "carry predictions, states and pictures to MQTT, for Home Assistant, or to NATS, for a fleet",
    },
    "classify without a daemon": {
        "predict": "classify pictures, or find objects in them, without a daemon",
        "eval": "evaluate the accuracy of a network on labelled pictures",
        "batch": "classify an archive of pictures or videos, on this host or on a Ray cluster",
    },
    "networks": {
        "inspect": "show a model's input, its cost, and its operators that edged does not support",
        "models": "compare the sizes and costs of several models",
        "model": "write labels and preprocessing into a model's file",
        "teach": "teach new labels to the network of the running daemon, from its own cameras",
        "train": "train a network from pictures",
        "verify": "compare every layer of a network on a device with the reference",
        "compress": "compress the file of a network by pruning and weight sharing",
        "quantize": "quantize the weights and tensors of a network to 8 bits",
    },
    "speed": {
        "bench": "benchmark a network on a device",
        "profile": "time each kernel of a network on a device",
        "trace": "record cameras, hub, workers and devices of the running daemon on one time line",
        "tune": "find the fastest kernels for a network on a device",
        "plan-split": "find where to cut a network into parts for several workers",
    },
    "several hosts": {
        "fleet": "roll out models to boards through NATS",
        "keys": "create and show the keys of a hub or a subscriber",
        "camera": "run one camera process (the hub starts those of its own host)",
        "worker": "run one worker process (the hub starts those of its own host)",
    },
    "the command line": {
        "config": "print the JSON Schema of the config file",
        "completion": "print a script that completes edged's commands in a shell",
    },
}
VERBS = {verb: summary for group in GROUPS.values() for verb, summary in group.items()}


class GroupedHelp(argparse.RawDescriptionHelpFormatter):
    """Lists the verbs in their groups, each with its summary."""

    def add_argument(self, action: argparse.Action) -> None:
        """Add an option as it is, and the verbs as a section for each group."""
        if not isinstance(action, argparse._SubParsersAction):
            super().add_argument(action)
            return
        verbs = {each.dest: each for each in action._get_subactions()}
        for title, group in GROUPS.items():
            self.start_section(title)
            self.add_arguments([verbs[verb] for verb in group])
            self.end_section()
