"""Who says how pictures are prepared: the config before the model's file, the file before a default."""

from typing import Any

import pytest

from edged import config
from edged.errors import ModelError
from edged.messages.preparation import RECIPES, Recipe, description
from edged.model.metadata import Metadata, decode, encode
from edged.model.prepare import prepared_by, recipe_for

IMAGENET = RECIPES["imagenet"]


def test_a_name_says_all_five() -> None:
    settings = config.ModelConfig(name="m", preprocess="imagenet")

    assert recipe_for(3, settings, Metadata()) == Recipe(
        "center-crop", "rgb", 1 / 255, (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
    )
    assert prepared_by(settings, Metadata()) == "config"


@pytest.mark.parametrize(
    ("name", "of_black", "of_white"),
    [("tf", (-1.0,) * 3, (1.0,) * 3), ("unit", (0.0,) * 3, (1.0,) * 3), ("raw", (0.0,) * 3, (255.0,) * 3),
     ("caffe", (-103.939, -116.779, -123.68), (151.061, 138.221, 131.32)),
     ("yolox", (0.0,) * 3, (255.0,) * 3), ("yolo", (0.0,) * 3, (1.0,) * 3), ("ssd", (-1.0,) * 3, (1.0,) * 3),
     ("imagenet", (-2.117904, -2.035714, -1.804444), (2.248908, 2.428571, 2.64))],
)  # fmt: skip
def test_what_black_and_white_become(name: Any, of_black: tuple[float, ...], of_white: tuple[float, ...]) -> None:
    recipe = recipe_for(3, config.ModelConfig(name="m", preprocess=name), Metadata())

    for pixel, expected in ((0, of_black), (255, of_white)):
        numbers = [(pixel * recipe.scale - m) / s for m, s in zip(recipe.mean, recipe.std, strict=True)]
        assert numbers == pytest.approx(expected, abs=1e-5)


def test_keys_beside_a_name_go_before_it() -> None:
    settings = config.ModelConfig(name="m", preprocess="imagenet", resize="pad", color="bgr", std=(1, 2, 3))

    assert recipe_for(3, settings, Metadata()) == Recipe("pad", "bgr", 1 / 255, IMAGENET.mean, (1, 2, 3))


def test_the_file_is_heard_where_the_config_is_silent() -> None:
    file = Metadata(preprocess="imagenet", resize="crop")

    assert recipe_for(3, config.ModelConfig(name="m", color="bgr"), file) == Recipe(
        "crop", "bgr", 1 / 255, IMAGENET.mean, IMAGENET.std
    )
    assert prepared_by(config.ModelConfig(name="m", color="bgr"), file) == "file"


def test_a_name_in_the_config_goes_before_all_that_the_file_says() -> None:
    file = Metadata(preprocess="caffe", resize="crop", mean=(9, 9, 9), std=(9, 9, 9), scale=9)
    settings = config.ModelConfig(name="m", preprocess="imagenet")

    assert recipe_for(3, settings, file) == IMAGENET


def test_a_size_a_shape_or_an_order_of_colours_does_not_say_which_numbers_are_wanted() -> None:
    settings = config.ModelConfig(name="m", size=224, resize="crop", color="bgr")

    assert prepared_by(settings, Metadata()) == "default"
    assert recipe_for(3, settings, Metadata()) == Recipe("crop", "bgr", 1 / 255, (0.0,) * 3, (1.0,) * 3)


def test_a_recipe_for_colours_is_refused_for_a_gray_network() -> None:
    with pytest.raises(ModelError, match=r"color is rgb, as preprocess imagenet has it: .* unit or raw"):
        recipe_for(1, config.ModelConfig(name="m", preprocess="imagenet"), Metadata())
    gray = recipe_for(1, config.ModelConfig(name="m", preprocess="raw"), Metadata())
    assert gray == Recipe("stretch", "gray", 1.0, (0.0,), (1.0,))


def test_a_file_keeps_what_was_written_into_it() -> None:
    said = Metadata(preprocess="imagenet", resize="pad")

    assert encode(said) == {"edged.preprocess": "imagenet", "edged.resize": "pad"}
    assert decode(encode(said)) == said


def test_a_file_that_names_no_known_recipe_is_refused() -> None:
    with pytest.raises(ModelError, match=r"edged.preprocess: Input should be 'imagenet', 'tf'"):
        decode({"edged.preprocess": "imagenett"})


def test_words_for_people() -> None:
    assert description(IMAGENET, 224, 224) == (
        "imagenet: resize the shorter side to 256, crop the centre 224×224, RGB, scale 1/255, mean "
        "0.485, 0.456, 0.406, std 0.229, 0.224, 0.225"
    )
    assert description(RECIPES["yolo"], 640, 480) == (
        "yolo: resize 640×480 (letterbox: the whole picture, centred, gray borders), RGB, scale 1/255"
    )
    gray = Recipe("pad", "gray", 1 / 255, (0.5,), (0.25,))
    assert (
        description(gray, 28, 28)
        == "resize 28×28 (pad: the whole picture, black borders), gray, scale 1/255, mean 0.5, std 0.25"
    )
