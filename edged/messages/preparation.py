"""How a picture becomes a network's input: ways to resize it, and recipes that are known by a name."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

Color = Literal["rgb", "bgr", "gray"]
Resize = Literal["stretch", "crop", "pad", "center-crop"]
Preprocess = Literal["imagenet", "tf", "caffe", "unit", "raw"]
PreparedBy = Literal["config", "file", "default"]

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
}


def shorter_side(side: int) -> int:
    """Return the pixels to which `center-crop` resizes the shorter side before it cuts out `side`: 256 for 224."""
    resized, cut = CENTER_CROP
    return max(side, round(side * resized / cut))


def description(recipe: Recipe, width: int, height: int) -> str:
    """Describe in words: `imagenet: shorter side to 256, centre 224×224, RGB, 0 … 1, less …, divided by …`."""
    known = [name for name, named in RECIPES.items() if _spread(named, recipe) == recipe]
    size = f"{width}×{height}"
    shape = {
        "stretch": f"stretched to {size}",
        "crop": f"largest centred part, resized to {size}",
        "pad": f"all of it in {size}, black beside it",
        "center-crop": f"shorter side to {shorter_side(min(width, height))}, centre {size}",
    }[recipe.resize]
    ranges = {1 / 255: "0 … 1", 1.0: "0 … 255"}
    less = f", less {_numbers(recipe.mean)}" if any(recipe.mean) else ""
    divided = f", divided by {_numbers(recipe.std)}" if set(recipe.std) != {1.0} else ""
    color = "gray" if recipe.color == "gray" else (recipe.color or "rgb").upper()
    values = ranges.get(recipe.scale, f"0 … {recipe.scale * 255:g}")
    return f"{f'{known[0]}: ' if known else ''}{shape}, {color}, {values}{less}{divided}"


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
