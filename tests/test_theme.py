"""The colours of `.streamlit/config.toml` keep the contrast that WCAG asks for, in both themes.

Source of the formulas: WCAG 2.2, success criteria 1.4.3 (text, 4.5:1) and 1.4.11 (marks, 3:1).
"""

from __future__ import annotations

import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest
from streamlit import config as streamlit_config

from replicalab.negotiation import MOST_BYTES

CONFIG: Final[dict[str, Any]] = tomllib.loads(
    (Path(__file__).parents[1] / ".streamlit" / "config.toml").read_text()
)
THEMES: Final = ("light", "dark")
COLOURS: Final = ("green", "orange", "yellow", "red", "blue", "gray")
TEXT_CONTRAST: Final = 4.5
MARK_CONTRAST: Final = 3.0
CAPTION_OPACITY: Final = 0.6
"""Streamlit draws captions and placeholders in the text colour at this opacity."""
SELECTED_OPACITY: Final = 0.1
"""Streamlit tints a selected pill or segment with the primary colour at this opacity."""


def theme(name: str) -> dict[str, Any]:
    """Return the settings of one theme."""
    settings: dict[str, Any] = CONFIG["theme"][name]
    return settings


def channels(colour: str) -> tuple[int, int, int]:
    """Return red, green and blue of "#RRGGBB", each 0-255."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return red, green, blue


def luminance(colour: str) -> float:
    """Return the relative luminance, 0 for black to 1 for white."""
    shares = (channel / 255 for channel in channels(colour))
    linear = (s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares)
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours, 1 to 21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def blend(front: str, back: str, opacity: float) -> str:
    """Return what is seen of `front` at `opacity` over `back`."""
    pairs = zip(channels(front), channels(back), strict=True)
    return "#" + "".join(f"{round(opacity * f + (1 - opacity) * b):02X}" for f, b in pairs)


def surfaces(name: str) -> tuple[str, str]:
    """Return the two backgrounds that most things stand on: the page, and widgets and sidebar."""
    return theme(name)["backgroundColor"], theme(name)["secondaryBackgroundColor"]


def test_contrast_of_known_pairs_is_as_published() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.005)
    assert contrast("#767676", "#FFFFFF") == pytest.approx(4.54, abs=0.005)


@pytest.mark.parametrize("name", THEMES)
@pytest.mark.parametrize("key", ["textColor", "linkColor", "codeTextColor"])
def test_text_is_readable_on_both_surfaces(name: str, key: str) -> None:
    for surface in surfaces(name):
        assert contrast(theme(name)[key], surface) >= TEXT_CONTRAST


@pytest.mark.parametrize("name", THEMES)
def test_captions_are_readable_on_both_surfaces(name: str) -> None:
    for surface in surfaces(name):
        caption = blend(theme(name)["textColor"], surface, CAPTION_OPACITY)
        assert contrast(caption, surface) >= TEXT_CONTRAST


@pytest.mark.parametrize("name", THEMES)
@pytest.mark.parametrize("colour", COLOURS)
def test_coloured_text_is_readable_on_its_badge_and_on_both_surfaces(
    name: str, colour: str
) -> None:
    text = theme(name)[f"{colour}TextColor"]
    for surface in (theme(name)[f"{colour}BackgroundColor"], *surfaces(name)):
        assert contrast(text, surface) >= TEXT_CONTRAST


@pytest.mark.parametrize("name", THEMES)
@pytest.mark.parametrize("colour", COLOURS)
def test_plain_text_is_readable_on_coloured_backgrounds(name: str, colour: str) -> None:
    background = theme(name)[f"{colour}BackgroundColor"]
    assert contrast(theme(name)["textColor"], background) >= TEXT_CONTRAST


@pytest.mark.parametrize("name", THEMES)
@pytest.mark.parametrize("colour", COLOURS)
def test_coloured_marks_stand_out_from_both_surfaces(name: str, colour: str) -> None:
    for surface in surfaces(name):
        assert contrast(theme(name)[f"{colour}Color"], surface) >= MARK_CONTRAST


@pytest.mark.parametrize("name", THEMES)
def test_primary_colour_carries_white_text_and_stands_out(name: str) -> None:
    primary = theme(name)["primaryColor"]
    assert contrast("#FFFFFF", primary) >= TEXT_CONTRAST
    for surface in surfaces(name):
        assert contrast(primary, surface) >= MARK_CONTRAST


def test_selected_pill_is_readable_in_light() -> None:
    # In dark, no blue can carry white text and be text itself; Streamlit writes white on it.
    primary, paper = theme("light")["primaryColor"], theme("light")["backgroundColor"]
    tint = blend(primary, paper, SELECTED_OPACITY)
    assert contrast(primary, tint) >= TEXT_CONTRAST


@pytest.mark.parametrize("name", THEMES)
def test_table_headers_are_readable(name: str) -> None:
    header = theme(name)["dataframeHeaderBackgroundColor"]
    assert contrast(theme(name)["dataframeHeaderTextColor"], header) >= TEXT_CONTRAST


@pytest.mark.parametrize("name", THEMES)
def test_chart_colours_stand_out_and_do_not_repeat(name: str) -> None:
    colours = theme(name)["chartCategoricalColors"]
    assert len(set(colours)) == len(colours)
    for colour in colours:
        assert contrast(colour, theme(name)["backgroundColor"]) >= MARK_CONTRAST


@pytest.mark.parametrize("name", THEMES)
def test_sequential_scale_has_ten_steps_away_from_the_paper(name: str) -> None:
    colours = theme(name)["chartSequentialColors"]
    paper = theme(name)["backgroundColor"]
    assert len(colours) == 10  # Streamlit ignores any other number
    assert all(contrast(a, paper) < contrast(b, paper) for a, b in pairwise(colours))


def test_both_themes_set_the_same_keys() -> None:
    assert theme("light").keys() == theme("dark").keys()


def test_every_key_is_one_that_streamlit_knows() -> None:
    known = streamlit_config.get_config_options()
    keys = {
        f"{section}.{key}.{inner}" if isinstance(value, dict) else f"{section}.{key}": None
        for section, settings in CONFIG.items()
        for key, value in settings.items()
        for inner in (value if isinstance(value, dict) else [key])
    }
    assert [key for key in keys if key not in known] == []


def test_app_is_served_to_this_machine_only_and_tells_nobody() -> None:
    server, browser = CONFIG["server"], CONFIG["browser"]
    assert server["address"] == "127.0.0.1"
    assert set(server["allowedHosts"]) == {"127.0.0.1", "localhost"}
    assert server["enableXsrfProtection"] is True
    assert server["enableCORS"] is True
    assert MOST_BYTES <= server["maxUploadSize"] * 2**20 <= 6 * 2**20
    assert browser["gatherUsageStats"] is False
