"""Export one architecture with seeded random weights: python export.py LIBRARY NAME EXPORTER FILE.

It runs with the Python of the environment that has PyTorch, and imports nothing of edged.
"""

import sys
import warnings

import torch

SEED = 0
CLASSES = 10


def network(library: str, name: str) -> tuple[torch.nn.Module, int]:
    """Return the network in its form for inference, and the height and width of its input."""
    torch.manual_seed(SEED)
    if library == "torchvision":
        import torchvision

        extra = {"aux_logits": False, "init_weights": True} if name in {"googlenet", "inception_v3"} else {}
        made = torchvision.models.get_model(name, num_classes=CLASSES, **extra)
        side = 299 if name == "inception_v3" else 224
    else:
        import timm

        made = timm.create_model(name, num_classes=CLASSES, exportable=True)
        side = made.default_cfg["input_size"][-1]
    with torch.no_grad():
        _give_statistics(made)
    return made.eval(), side


def _give_statistics(made: torch.nn.Module) -> None:
    """Set statistics of batch norms as training leaves them, and scales that training begins at zero."""
    for module in made.modules():
        if isinstance(module, torch.nn.modules.batchnorm._BatchNorm) and module.running_var is not None:
            module.running_mean.normal_(0, 0.1)
            module.running_var.uniform_(0.5, 1.5)
    for parameter in made.parameters():
        if parameter.numel() and parameter.abs().max() < 1e-3:
            parameter.uniform_(-0.2, 0.2)


def main(library: str, name: str, exporter: str, file: str) -> None:
    """Write the file."""
    warnings.simplefilter("ignore")
    made, side = network(library, name)
    x = torch.randn(1, 3, side, side, generator=torch.Generator().manual_seed(SEED))
    torch.onnx.export(made, (x,), file, dynamo=exporter == "dynamo", external_data=False, verbose=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
