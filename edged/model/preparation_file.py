"""Read how pictures are prepared from the files of Hugging Face: of transformers, and of timm.

`preprocessor_config.json` of transformers, and `config.json` of timm beside its weights. What edged cannot do, it
takes for the nearest that it can: it resamples in its own way, and cuts the centre out of 256/224 of the input's
shorter side or out of the whole.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from edged.errors import ModelError
from edged.messages.preparation import CENTER_CROP, Resize
from edged.model.graph import Pair
from edged.system.files import read_regular_file

SUFFIX = ".json"
MAX_BYTES = 4 * 2**20
EXPECTED = "a preprocessor_config.json of transformers, or a config.json of timm"
OF_TRANSFORMERS = frozenset({"image_mean", "do_normalize", "do_rescale", "image_processor_type"})
NESTED = ("image_processor", "pretrained_cfg")  # of a processor_config.json of transformers, of timm's config.json
OF_TIMM = "input_size"
LARGE = 384  # pixels: from then on transformers' ConvNeXT stretches pictures instead of cutting them
LEVIT = "Levit"  # in the name of its class, which resizes to 256/224 of the size

Side = Annotated[int, Field(ge=1, le=16384)]
Channel = Annotated[float, Field(ge=-1e4, le=1e4)]
ByChannel = Annotated[tuple[Channel, ...], Field(min_length=1, max_length=3)]


class FilePart(BaseModel):
    """A part of such a file."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False, hide_input_in_errors=True)


class Sides(FilePart):
    """A size: both sides, or the shorter one with a bound of the longer one."""

    height: Side | None = None
    width: Side | None = None
    shortest_edge: Side | None = None


class TransformersProcessor(FilePart):
    """What an image processor of transformers does, in this order: resize, cut the centre, rescale, normalize."""

    size: Side | Sides = Sides()
    do_center_crop: bool = False
    crop_size: Side | Sides | None = None
    crop_pct: Annotated[float, Field(gt=0, le=1)] | None = None
    do_rescale: bool = True
    rescale_factor: Annotated[float, Field(gt=0)] = 1 / 255
    rescale_offset: bool = False
    do_normalize: bool = False  # of MobileViT's there is none, beside a mean that is not used
    image_mean: ByChannel | None = None
    image_std: ByChannel | None = None
    include_top: bool = False
    do_flip_channel_order: bool = False
    image_processor_type: str = ""
    feature_extractor_type: str = ""


class TimmConfig(FilePart):
    """What timm does with pictures at evaluation: `input_size` is channels, height, width."""

    input_size: tuple[Side, Side, Side]
    mean: ByChannel
    std: ByChannel
    crop_pct: Annotated[float, Field(gt=0, le=1)] = CENTER_CROP[1] / CENTER_CROP[0]
    crop_mode: Literal["center", "squash", "border"] = "center"


def with_file_read(keys: Mapping[str, Any]) -> dict[str, Any]:
    """Return keys of the config's `model:`, with what the file says whose path is `preprocess`, if it is one.

    Other keys take precedence. Raises ModelError.
    """
    given = dict(keys)
    named = given.get("preprocess")
    if isinstance(named, Path) or (isinstance(named, str) and named.endswith(SUFFIX)):
        del given["preprocess"]
        return {**read_preparation(Path(named)), **given}
    return given


def read_preparation(path: Path) -> dict[str, Any]:
    """Return the keys of the config's `model:` that the file defines. Raises ModelError."""
    content = _parsed(path)
    try:
        if OF_TIMM in content:
            return _of_timm(TimmConfig.model_validate(content))
        if OF_TRANSFORMERS & content.keys():
            return _of_transformers(TransformersProcessor.model_validate(content))
    except ValidationError as error:
        deepest = max(error.errors(), key=lambda each: len(each["loc"]))  # of the forms that a size may have
        raise ModelError(f"{path}: {deepest['loc'][0]}: {deepest['msg']}; expected {EXPECTED}") from None
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None
    raise ModelError(f"{path}: says nothing of the preparation of pictures; expected {EXPECTED}")


def _parsed(path: Path) -> Mapping[str, Any]:
    """Return the object that describes the preparation, which may be part of a larger one. Raises ModelError."""
    try:
        content = json.loads(read_regular_file(path, MAX_BYTES))
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}; expected {EXPECTED}") from None
    except (ValueError, RecursionError):
        raise ModelError(f"{path}: is not JSON; expected {EXPECTED}") from None
    if not isinstance(content, dict):
        raise ModelError(f"{path}: holds no object; expected {EXPECTED}")
    return next((content[key] for key in NESTED if isinstance(content.get(key), dict)), content)


def _of_timm(said: TimmConfig) -> dict[str, Any]:
    _, height, width = said.input_size
    if said.crop_mode == "border":
        resize: Resize = "pad"
    else:
        resize = "stretch" if said.crop_mode == "squash" else _cut_out_of(1 / said.crop_pct)
    return {"resize": resize, "size": (width, height), "scale": 1 / 255, "mean": said.mean, "std": said.std}


def _of_transformers(said: TransformersProcessor) -> dict[str, Any]:
    keys: dict[str, Any] = _fit(said)
    keys["scale"] = said.rescale_factor if said.do_rescale else 1.0
    mean, std = _mean_and_std(said)
    offset = 1.0 if said.rescale_offset else 0.0  # EfficientNet: to -1 … 1, before the mean is subtracted
    times = 2 if said.include_top else 1  # EfficientNet divides by std twice
    keys["mean"], keys["std"] = tuple(offset + each for each in mean), tuple(each**times for each in std)
    if said.do_flip_channel_order:
        keys["color"] = "bgr"
    return keys


def _mean_and_std(said: TransformersProcessor) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return them by channel. Raises ModelError if the file leaves them to the defaults of a class."""
    if not said.do_normalize:
        return (0.0,) * 3, (1.0,) * 3
    if said.image_mean is None or said.image_std is None:
        raise ModelError(
            "do_normalize: image_mean and image_std are not both there; "
            "give --mean and --std in place of this file"
        )
    return said.image_mean, said.image_std


def _fit(said: TransformersProcessor) -> dict[str, Any]:
    """Return `resize` and `size`; nothing for a network whose input follows the shape of the picture."""
    fixed, shorter = _fixed_and_shorter(said.size)
    if said.crop_pct is not None and shorter:
        is_cut = said.do_center_crop or shorter < LARGE
        return {"resize": _cut_out_of(1 / said.crop_pct) if is_cut else "stretch", "size": (shorter, shorter)}
    if said.do_center_crop and shorter:
        cut = _fixed_and_shorter(said.crop_size or shorter)[0] or (shorter, shorter)
        ratio = shorter / min(cut)
        if LEVIT in said.image_processor_type + said.feature_extractor_type:
            ratio = CENTER_CROP[0] / CENTER_CROP[1]
        return {"resize": _cut_out_of(ratio), "size": cut}
    return {"resize": "stretch", "size": fixed} if fixed else {}


def _fixed_and_shorter(size: int | Sides) -> tuple[Pair | None, int | None]:
    """Return width and height, if both are given, and the shorter side, if it is known."""
    if isinstance(size, int):
        return (size, size), size
    if size.height and size.width:
        return (size.width, size.height), min(size.width, size.height)
    return None, size.shortest_edge


def _cut_out_of(ratio: float) -> Resize:
    """Return how the centre is cut out of a picture whose shorter side is `ratio` of the input's."""
    usual = CENTER_CROP[0] / CENTER_CROP[1]
    return "center-crop" if abs(ratio - usual) < abs(ratio - 1) else "crop"
