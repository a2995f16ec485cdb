"""The palette is told apart by everyone: contrast on its paper, and distance as colour-blind eyes see it."""

from itertools import combinations

import numpy as np
import pytest

from discreet.apps.pictures.theme import COLOURS, SERIES, paint

# Machado, Oliveira and Fernandes 2009, severity 1, acting on linear RGB.
EYES = {
    "trichromat": np.eye(3),
    "protanope": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranope": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
}


def linear(code):
    rgb = np.array([int(code[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def lightness_and_hue(rgb):
    """CIE Lab of a linear RGB colour."""
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = np.cbrt(to_xyz @ np.clip(rgb, 0, 1) / np.array([0.9505, 1, 1.089]))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def contrast(first, second):
    light, dark = sorted((linear(code) @ [0.2126, 0.7152, 0.0722] for code in (first, second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_series_stands_out_on_its_paper_and_text_is_readable(theme):
    colours = COLOURS[theme]
    assert min(contrast(colours[str(i)], colours["paper"]) for i in range(SERIES)) >= 3  # WCAG 2.1, 1.4.11
    assert (
        min(contrast(colours[name], colours["paper"]) for name in ("ink", "muted")) >= 4.5
    )  # WCAG 2.1, 1.4.3


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_series_are_told_apart_by_colour_blind_readers(theme, eye):
    seen = [lightness_and_hue(EYES[eye] @ linear(COLOURS[theme][str(i)])) for i in range(SERIES)]
    nearest = min(np.linalg.norm(a - b) for a, b in combinations(seen, 2))
    assert nearest >= 12  # CIE76; 2.3 is a just noticeable difference


def test_red_and_green_of_equal_lightness_would_fail_the_check():
    eye = EYES["deuteranope"]
    a, b = (lightness_and_hue(eye @ linear(code)) for code in ("#c86464", "#8c8c5a"))
    assert np.linalg.norm(a - b) < 12


def test_painting_replaces_whole_tokens_only():
    assert paint(["@1", "me@1", {"a": ("@paper",)}], "light") == ["#d55e00", "me@1", {"a": ["#ffffff"]}]
