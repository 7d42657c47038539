"""Export one architecture with seeded random weights: python export.py LIBRARY NAME EXPORTER FILE.

It runs with the Python of the environment that has PyTorch, and imports nothing of edged.
"""

import sys
import warnings
from typing import Any

import torch

SEED = 0
CLASSES = 10
DETECTOR_SIDE = 160


def network(library: str, name: str) -> tuple[torch.nn.Module, int]:
    """Return the network in its form for inference, and the height and width of its input."""
    torch.manual_seed(SEED)
    if library == "torchvision":
        import torchvision

        extra = {"aux_logits": False, "init_weights": True} if name in {"googlenet", "inception_v3"} else {}
        made = torchvision.models.get_model(name, num_classes=CLASSES, **extra)
        side = 299 if name == "inception_v3" else 224
    elif library == "transformers":
        return detector(name), DETECTOR_SIDE
    else:
        import timm

        made = timm.create_model(name, num_classes=CLASSES, exportable=True)
        side = made.default_cfg["input_size"][-1]
    with torch.no_grad():
        _give_statistics(made)
    return made.eval(), side


class Outputs(torch.nn.Module):  # type: ignore[misc]  # this environment has no PyTorch
    """A detector of transformers that returns logits and boxes alone."""

    def __init__(self, made: torch.nn.Module) -> None:
        super().__init__()
        self.made = made

    def forward(self, pixel_values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        found = self.made(pixel_values=pixel_values)
        return found.logits, found.pred_boxes


def detector(name: str) -> torch.nn.Module:
    """Return a small detector. Those that choose queries choose all: equal scores are in no order."""
    import transformers

    cells = sum((DETECTOR_SIDE // stride) ** 2 for stride in (8, 16, 32))
    of_all_cells = {"num_queries": cells, "decoder_layers": 2}
    kind, settings = {
        "d_fine": ("DFine", of_all_cells),
        "deimv2": ("Deimv2", of_all_cells),
        "detr": ("Detr", _small_backbone()),
        "rt_detr": ("RTDetr", of_all_cells),
        "rt_detr_v2": ("RTDetrV2", of_all_cells),
        "yolos": ("Yolos", {"image_size": [DETECTOR_SIDE, DETECTOR_SIDE], "num_hidden_layers": 4}),
    }[name]
    config = getattr(transformers, f"{kind}Config")(num_labels=CLASSES, **settings)
    made = getattr(transformers, f"{kind}ForObjectDetection")(config)
    with torch.no_grad():
        _give_statistics(made)
    return Outputs(made).eval()


def _small_backbone() -> dict[str, Any]:
    import transformers

    sizes = {"embedding_size": 32, "hidden_sizes": [32, 64, 128, 256], "depths": [1, 1, 1, 1]}
    backbone = transformers.ResNetConfig(layer_type="basic", out_features=["stage4"], **sizes)
    return {"backbone_config": backbone, "use_timm_backbone": False, "backbone": None, "num_queries": 50}


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
