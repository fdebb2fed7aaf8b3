"""Contrast of the colours in both themes, by the formulas of WCAG 2.2 (1.4.3 and 1.4.11)."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from streamlit import config as streamlit_config

from replicalab.limits import MOST_FILE_BYTES
from replicalab.render.html import STYLE

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
    settings: dict[str, Any] = CONFIG["theme"][name]
    return settings


def channels(colour: str) -> tuple[int, int, int]:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return red, green, blue


def luminance(colour: str) -> float:
    shares = (channel / 255 for channel in channels(colour))
    linear = (s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares)
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def blend(front: str, back: str, opacity: float) -> str:
    pairs = zip(channels(front), channels(back), strict=True)
    return "#" + "".join(f"{round(opacity * f + (1 - opacity) * b):02X}" for f, b in pairs)


def test_contrast_of_known_pairs() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.005)


def pairs(name: str) -> Iterator[tuple[str, str, list[str], float]]:
    record = theme(name)
    both = [record["backgroundColor"], record["secondaryBackgroundColor"]]
    for key in ("textColor", "linkColor", "codeTextColor"):
        yield key, record[key], both, TEXT_CONTRAST
    for paper in both:
        yield "caption", blend(record["textColor"], paper, CAPTION_OPACITY), [paper], TEXT_CONTRAST
    for colour in COLOURS:
        badge = record[f"{colour}BackgroundColor"]
        yield f"{colour} text", record[f"{colour}TextColor"], [badge, *both], TEXT_CONTRAST
        yield f"text on {colour}", record["textColor"], [badge], TEXT_CONTRAST
        yield f"{colour} mark", record[f"{colour}Color"], both, MARK_CONTRAST
    primary, header = record["primaryColor"], record["dataframeHeaderBackgroundColor"]
    yield "white on primary", "#FFFFFF", [primary], TEXT_CONTRAST
    yield "primary", primary, both, MARK_CONTRAST
    yield "table header", record["dataframeHeaderTextColor"], [header], TEXT_CONTRAST
    for place, colour in enumerate(record["chartCategoricalColors"], start=1):
        yield f"chart colour {place}", colour, both[:1], MARK_CONTRAST
    if name == "light":
        # In dark, no blue can carry white text and be text itself; Streamlit writes white on it.
        tint = blend(primary, both[0], SELECTED_OPACITY)
        yield "selected pill", primary, [tint], TEXT_CONTRAST


@pytest.mark.parametrize("name", THEMES)
def test_contrast_meets_wcag(name: str) -> None:
    weak = {
        (what, paper): contrast(colour, paper)
        for what, colour, papers, minimum in pairs(name)
        for paper in papers
        if contrast(colour, paper) < minimum
    }
    assert weak == {}


def test_themes_set_the_same_known_keys() -> None:
    assert theme("light").keys() == theme("dark").keys()
    options = streamlit_config.get_config_options()
    keys = {
        f"{section}.{key}.{inner}" if isinstance(value, dict) else f"{section}.{key}"
        for section, settings in CONFIG.items()
        for key, value in settings.items()
        for inner in (value if isinstance(value, dict) else [key])
    }
    assert keys <= options.keys()


def test_server_settings_are_private() -> None:
    server, browser = CONFIG["server"], CONFIG["browser"]
    assert server["address"] == "127.0.0.1"
    assert set(server["allowedHosts"]) == {"127.0.0.1", "localhost"}
    assert server["enableXsrfProtection"] is True
    assert server["enableCORS"] is True
    assert MOST_FILE_BYTES <= server["maxUploadSize"] * 2**20 <= 6 * 2**20
    assert browser["gatherUsageStats"] is False
    # No visitor waits for a garbage collection of all sessions.
    assert CONFIG["runner"]["postScriptGC"] is False


PANEL_COLOURS: Final = {
    "ink": "textColor",
    "paper": "backgroundColor",
    "field": "secondaryBackgroundColor",
    "line": "borderColor",
    "quiet": "grayTextColor",
    "pass": "greenTextColor",
    "caution": "orangeTextColor",
    "fail": "redTextColor",
    "evidence": "blueTextColor",
    "pass-mark": "greenColor",
    "caution-mark": "orangeColor",
    "fail-mark": "redColor",
    "evidence-mark": "blueColor",
}
"""The colours of the panels' stylesheet, which cannot read the theme, and whose twins they are."""


def test_panels_have_the_colours_of_the_theme() -> None:
    written = re.findall(r"--([a-z-]+): light-dark\((#\w{6}), (#\w{6})\);", STYLE)
    assert {name: tuple(pair) for name, *pair in written} == {
        name: (theme("light")[key], theme("dark")[key]) for name, key in PANEL_COLOURS.items()
    }
    assert len(re.findall(r"#[0-9A-Fa-f]{6}", STYLE)) == 2 * len(PANEL_COLOURS)
