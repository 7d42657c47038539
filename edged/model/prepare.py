"""How pictures become a model's input. Precedence: the config before the file, the file before a default."""

from collections.abc import Mapping
from dataclasses import replace

from edged import config
from edged.errors import ModelError
from edged.messages.preparation import RECIPES, Color, PreparedBy, Recipe, spread
from edged.model.metadata import Metadata

CHANNELS: Mapping[Color, int] = {"rgb": 3, "bgr": 3, "gray": 1}
DEFAULT = RECIPES["unit"]

Said = config.ModelConfig | Metadata  # each may define all, none, or some of it


def recipe_for(channels: int, settings: config.ModelConfig, file: Metadata, otherwise: Recipe = DEFAULT) -> Recipe:
    """Return the recipe for a network with so many channels; mean and std have a value for each.

    `otherwise`: where neither the config nor the file says it. Raises ModelError if the definitions do not fit its
    channels.
    """
    if channels not in CHANNELS.values():
        raise ModelError(f"its input has {channels} channels; supported are 3, red, green and blue, and 1, gray")
    recipe = _merge_recipe(settings, _merge_recipe(file, otherwise, channels), channels)
    color = recipe.color or ("gray" if channels == 1 else "rgb")
    if CHANNELS[color] != channels:
        raise ModelError(f"its input has {channels} channel(s), but color is {color}{_hint(settings, file)}")
    _require("mean", recipe.mean, channels)
    _require("std", recipe.std, channels)
    return replace(recipe, color=color)


def prepared_by(settings: config.ModelConfig, file: Metadata, otherwise: PreparedBy = "default") -> PreparedBy:
    """Return the source of the values."""
    if _names_values(settings):
        return "config"
    return "file" if _names_values(file) else otherwise


def _merge_recipe(source: Said, otherwise: Recipe, channels: int) -> Recipe:
    """Return the keys of the section, then of the recipe that it names, then of `otherwise`."""
    named = RECIPES[source.preprocess] if source.preprocess else otherwise
    return Recipe(
        resize=source.resize or named.resize,
        color=source.color or named.color or otherwise.color,
        scale=source.scale or named.scale,
        mean=source.mean or spread(named.mean, channels),
        std=source.std or spread(named.std, channels),
    )


def _names_values(source: Said) -> bool:
    """Return whether it defines values. A size, a shape or an order of colours alone does not."""
    return any(each is not None for each in (source.preprocess, source.scale, source.mean, source.std))


def _require(key: str, numbers: tuple[float, ...], channels: int) -> None:
    if len(numbers) != channels:
        raise ModelError(f"its input has {channels} channel(s), but {key} has {len(numbers)} number(s)")


def _hint(settings: config.ModelConfig, file: Metadata) -> str:
    source = settings if settings.preprocess else file
    if source.preprocess and not (settings.color or source.color):
        return f", as preprocess {source.preprocess} has it: for gray pictures use unit or raw"
    return ": leave color out"
