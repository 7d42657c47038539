"""How a picture becomes a network's input: ways to resize it, and recipes that are known by a name."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

Color = Literal["rgb", "bgr", "gray"]
Resize = Literal["stretch", "crop", "pad", "center-crop", "letterbox", "corner"]
Preprocess = Literal["imagenet", "tf", "caffe", "unit", "raw", "yolox", "yolo", "ssd"]
PreparedBy = Literal["config", "file", "layout", "default"]

IN_CONFIG = "`preprocess: {}` to `model:`"
ON_COMMAND_LINE = "`--preprocess {}`"
IN_PYTHON = "`preprocess='{}'`"
CENTER_CROP = (
    256,
    224,
)  # pixels of the picture's shorter side, for those of the input's


@dataclass(frozen=True)
class Recipe:
    """input = (pixel × scale − mean) ÷ std, pixel in 0 … 255; mean and std by channel, or one number for all.

    `color`: None where it is the network's own, by its channels.
    """

    resize: Resize
    color: Color | None
    scale: float
    mean: tuple[float, ...]
    std: tuple[float, ...]


RECIPES: Mapping[Preprocess, Recipe] = {
    "imagenet": Recipe("center-crop", "rgb", 1 / 255, (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
    "tf": Recipe("center-crop", "rgb", 1 / 255, (0.5,), (0.5,)),
    "caffe": Recipe("center-crop", "bgr", 1.0, (103.939, 116.779, 123.68), (1.0,)),
    "unit": Recipe("stretch", None, 1 / 255, (0.0,), (1.0,)),
    "raw": Recipe("stretch", None, 1.0, (0.0,), (1.0,)),
    "yolox": Recipe("corner", "bgr", 1.0, (0.0,), (1.0,)),
    "yolo": Recipe("letterbox", "rgb", 1 / 255, (0.0,), (1.0,)),
    "ssd": Recipe("stretch", "rgb", 1.0, (127.5,), (127.5,)),
}


def shorter_side(side: int) -> int:
    """Return the pixels to which `center-crop` resizes the shorter side before it cuts out `side`: 256 for 224."""
    resized, cut = CENTER_CROP
    return max(side, round(side * resized / cut))


def description(recipe: Recipe, width: int, height: int) -> str:
    """Describe in words: `unit: resize 120×120 (stretch), RGB, scale 1/255, mean 0.5, std 0.25`."""
    known = [name for name, named in RECIPES.items() if _spread(named, recipe) == recipe]
    size = f"{width}×{height}"
    shape = {
        "stretch": f"resize {size} (stretch)",
        "crop": f"resize {size} (crop: the largest centred part)",
        "pad": f"resize {size} (pad: the whole picture, black borders)",
        "center-crop": f"resize the shorter side to {shorter_side(min(width, height))}, crop the centre {size}",
        "letterbox": f"resize {size} (letterbox: the whole picture, centred, gray borders)",
        "corner": f"resize {size} (corner: the whole picture at the upper left, gray borders)",
    }[recipe.resize]
    mean = f", mean {_numbers(recipe.mean)}" if any(recipe.mean) else ""
    std = f", std {_numbers(recipe.std)}" if set(recipe.std) != {1.0} else ""
    color = "gray" if recipe.color == "gray" else (recipe.color or "rgb").upper()
    scale = "1/255" if recipe.scale == 1 / 255 else f"{recipe.scale:g}"
    return f"{f'{known[0]}: ' if known else ''}{shape}, {color}, scale {scale}{mean}{std}"


def default_warning(described: str, option: str) -> str:
    """Return a warning that nothing defines how pictures are prepared.

    `option`: how a recipe is named there, as text with a `{}`.
    """
    return (
        f"nothing says how pictures are prepared for this model; by default: {described}. One that was trained on "
        "ImageNet as usual gets far fewer answers right so: "
        f"add {option.format('imagenet')}; where the default is right, add {option.format('unit')}"
    )


def spread(numbers: tuple[float, ...], channels: int) -> tuple[float, ...]:
    """Return one value for each channel; a single number is repeated."""
    return numbers * channels if len(numbers) == 1 else numbers


def _spread(named: Recipe, like: Recipe) -> Recipe:
    channels = len(like.mean)
    mean, std = spread(named.mean, channels), spread(named.std, channels)
    return replace(named, color=named.color or like.color, mean=mean, std=std)


def _numbers(numbers: tuple[float, ...]) -> str:
    return ", ".join(f"{number:g}" for number in (numbers[:1] if len(set(numbers)) == 1 else numbers))
