"""What files of Hugging Face say of the preparation of pictures. The values are those that transformers writes."""

import json
from pathlib import Path
from typing import Any

import pytest

from edged.errors import ModelError
from edged.model.preparation_file import read_preparation

HALF = {"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.25, 0.5], "do_normalize": True}
NOT_NORMALIZED = {"scale": 1 / 255, "mean": (0, 0, 0), "std": (1, 1, 1)}
SQUARE_224 = {"height": 224, "width": 224}


def read(folder: Path, **content: Any) -> dict[str, Any]:
    path = folder / "preprocessor_config.json"
    path.write_text(json.dumps(content))
    return read_preparation(path)


@pytest.mark.parametrize(
    ("said", "resize", "size"),
    [
        ({"size": {"height": 224, "width": 192}}, "stretch", (192, 224)),  # ViT
        ({"size": 224}, "stretch", (224, 224)),  # ViT before 2023
        ({"size": SQUARE_224, "do_center_crop": False, "crop_size": 200}, "stretch", (224, 224)),  # BEiT
        ({"size": 256, "do_center_crop": True, "crop_size": SQUARE_224}, "center-crop", (224, 224)),  # DeiT
        (
            {"size": {"shortest_edge": 256}, "do_center_crop": True, "crop_size": SQUARE_224},  # MobileNet V2
            "center-crop",
            (224, 224),
        ),
        ({"size": {"shortest_edge": 224}, "do_center_crop": True, "crop_size": SQUARE_224}, "crop", (224, 224)),
        ({"size": {"shortest_edge": 224}, "do_center_crop": True}, "crop", (224, 224)),
        ({"size": {"shortest_edge": 224}, "crop_pct": 0.875}, "center-crop", (224, 224)),  # ConvNeXT
        ({"size": {"shortest_edge": 384}, "crop_pct": 0.875}, "stretch", (384, 384)),
        (
            {
                "size": {"shortest_edge": 224},
                "crop_pct": 0.9,
                "do_center_crop": True,
                "crop_size": 224,
            },  # PoolFormer
            "center-crop",
            (224, 224),
        ),
        (
            {
                "size": {"shortest_edge": 224},
                "do_center_crop": True,
                "image_processor_type": "LevitImageProcessor",
            },
            "center-crop",
            (224, 224),
        ),
    ],
)
def test_how_pictures_are_fitted_to_the_input(
    tmp_path: Path, said: dict[str, Any], resize: str, size: tuple[int, int]
) -> None:
    assert read(tmp_path, **HALF, **said) == {
        "resize": resize,
        "size": size,
        "scale": 1 / 255,
        "mean": (0.5, 0.5, 0.5),
        "std": (0.5, 0.25, 0.5),
    }


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"do_normalize": False, "image_mean": [0.5, 0.5, 0.5]}, NOT_NORMALIZED),  # RT-DETR
        ({"image_mean": [0.5, 0.5, 0.5], "do_flip_channel_order": True}, {**NOT_NORMALIZED, "color": "bgr"}),
        ({"do_rescale": False}, {**NOT_NORMALIZED, "scale": 1.0}),
        ({**HALF, "rescale_factor": 1 / 127.5, "rescale_offset": True, "include_top": True},  # EfficientNet
         {"scale": 1 / 127.5, "mean": (1.5, 1.5, 1.5), "std": (0.25, 0.0625, 0.25)}),
        ({"image_processor": HALF}, {"scale": 1 / 255, "mean": (0.5, 0.5, 0.5), "std": (0.5, 0.25, 0.5)}),
    ],
)  # fmt: skip
def test_how_pixels_become_inputs(tmp_path: Path, said: dict[str, Any], expected: dict[str, Any]) -> None:
    base = {"do_rescale": True, "size": {"shortest_edge": 800, "longest_edge": 1333}}  # the input has any size

    assert read(tmp_path, **{**base, **said}) == expected


@pytest.mark.parametrize(
    ("said", "resize"),
    [
        ({"crop_pct": 0.875}, "center-crop"),
        ({"crop_pct": 1.0}, "crop"),
        ({"crop_pct": 0.95, "crop_mode": "center"}, "crop"),
        ({"crop_pct": 0.9, "crop_mode": "squash"}, "stretch"),
        ({"crop_mode": "border"}, "pad"),
        ({}, "center-crop"),
    ],
)
def test_a_config_of_timm(tmp_path: Path, said: dict[str, Any], resize: str) -> None:
    network = {"input_size": [3, 224, 192], "mean": [0.4, 0.5, 0.6], "std": [1, 2, 3]}

    read_values = read(tmp_path, architecture="resnet50", pretrained_cfg={**network, **said})

    assert read_values == {
        "resize": resize,
        "size": (192, 224),
        "scale": 1 / 255,
        "mean": (0.4, 0.5, 0.6),
        "std": (1, 2, 3),
    }


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "is not JSON; expected a preprocessor_config.json of transformers, or a config.json of timm"),
        ("[1]", "holds no object"),
        ('{"id2label": {"0": "cat"}}', "says nothing of the preparation of pictures; expected"),
        (
            '{"do_normalize": true}',
            "do_normalize: image_mean and image_std are not both there; give --mean and --std",
        ),
        ('{"do_rescale": true, "rescale_factor": 0}', "rescale_factor: Input should be greater than 0"),
        (
            '{"do_rescale": true, "size": {"height": -1, "width": 2}}',
            "size: Input should be greater than or equal to 1; expected",
        ),
        (
            '{"do_normalize": true, "image_mean": [NaN], "image_std": [1]}',
            "image_mean: Input should be a finite",
        ),
        ('{"input_size": [3, 224, 224]}', "mean: Field required"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, content: str, problem: str) -> None:
    path = tmp_path / "file.json"
    path.write_text(content)
    with pytest.raises(ModelError) as error:
        read_preparation(path)
    assert str(error.value).startswith(f"{path}: {problem}")


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(
        ModelError, match="cannot be read: No such file or directory; expected a preprocessor_config"
    ):
        read_preparation(tmp_path / "gone.json")
