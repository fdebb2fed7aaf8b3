"""docs/methods.md: a section for each kind, with its source, its tests and figures that hold."""

from __future__ import annotations

import math
import re
from itertools import product
from pathlib import Path
from typing import Final

import pytest
from scipy import stats

from replicalab.measures import KINDS, DesignKind, DesignParameters, Kind
from replicalab.measures.correlation import correlation_power
from replicalab.measures.distributions import z_test_power
from replicalab.measures.shares import MOST_PER_GROUP, other_share, shares_power
from replicalab.measures.usual_tests import log_rank_power

ROOT: Final = Path(__file__).resolve().parents[2]
GUIDE: Final = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
SECTIONS: Final = dict(re.findall(r"^## (.+)\n((?:(?!^## ).*\n?)*)", GUIDE, re.MULTILINE))
AT: Final = DesignParameters(alpha=0.05)

rows: Final = pytest.mark.parametrize("row", KINDS.values(), ids=KINDS)


@rows
def test_kind_has_a_section_that_says_what_it_assumes_its_error_and_its_source(row: Kind) -> None:
    section = " ".join(SECTIONS[row.title].split())
    for part in ("**Formula.**", "ssumes", "**Error.**", "**Source.**", "**Held by.**"):
        assert part in section
    for source in (row.source, *(words.source for words in row.given.values())):
        who, _, place = source.partition(", ")
        assert who.replace(" and ", " & ") in section
        assert place in section
    assert all(f"`{name}`" in section for name in row.given)


def test_methods_name_tests_that_there_are() -> None:
    tests = "\n".join(file.read_text(encoding="utf-8") for file in ROOT.glob("tests/**/*.py"))
    named = set(re.findall(r"`(test_\w+)`", GUIDE))
    assert named
    assert [name for name in sorted(named) if f"def {name}(" not in tests] == []


def said(title: str, *figures: str) -> None:
    """Assert that a section says these figures."""
    section = " ".join(SECTIONS[title].split())
    assert [figure for figure in figures if figure not in section] == []


def test_methods_say_how_far_fishers_z_is_off() -> None:
    def off(n: int, r: float) -> float:
        shift = math.atanh(r) * math.sqrt(n - 3)
        return correlation_power(n, r, 0.05) - z_test_power(shift, 0.05)

    said("Correlation", f"{off(5, 0.9):.2f} lower at 5 pairs and r = 0.9",
         f"{off(15, 0.5):.2f} at 15 pairs and r = 0.5")  # fmt: skip
    assert max(abs(off(n, r)) for n, r in product(range(4, 400), (0.05, 0.1, 0.2, 0.3))) < 0.01


def test_methods_say_how_far_the_arcsine_is_off() -> None:
    arcsine = KINDS[DesignKind.TWO_PROPORTIONS].value(100, 0.5, AT)
    from_half, from_fifth = (shares_power(100, 0.5, one, 0.05).power for one in (0.5, 0.2))
    said("Two proportions", f"arcsine has {arcsine:.2f}", f"{from_half:.2f} from a share of 50 %",
         f"{from_fifth:.2f} from one of 20 %")  # fmt: skip


@pytest.mark.parametrize(
    ("baseline", "least", "most", "text"),
    [(0.5, -0.017, 0.0, "0.02 less than Fisher's test from a share of 50 %"),
     (0.05, -0.03, 0.0, "0.03 less from one of 5 %"),
     (0.01, 0.0, 0.05, "up to 0.05 more from one of 1 %")],
)  # fmt: skip
def test_methods_say_how_far_the_normal_approximation_of_shares_is_off(
    baseline: float, least: float, most: float, text: str
) -> None:
    said("Two proportions", text)
    each, more = MOST_PER_GROUP, []
    for step in range(1, 60):
        h = 0.0125 * step
        other = other_share(baseline, h)
        if not 0 < other < baseline:
            continue
        middle, spread = (baseline + other) / 2, baseline * (1 - baseline) + other * (1 - other)
        less, difference = each - 1 / (baseline - other), baseline - other
        if less <= 0:
            continue
        # The size for a power, with its correction (Fleiss, Levin & Paik), solved for the power.
        critical = stats.norm.isf(0.025) * math.sqrt(2 * middle * (1 - middle))
        corrected = stats.norm.cdf(
            (difference * less / math.sqrt(each) - critical) / math.sqrt(spread)
        )
        more.append(corrected - shares_power(2 * each, h, baseline, 0.05).power)
    assert min(more) == pytest.approx(least, abs=0.007)
    assert max(more) == pytest.approx(most, abs=0.005)


def test_methods_say_how_much_wider_a_t_interval_is() -> None:
    z = stats.norm.isf(0.025)
    wider = [stats.t.isf(0.025, n - 1) / z for n in (5, 30)]
    assured = [
        times * math.sqrt(stats.chi2.ppf(0.8, n - 1) / (n - 1))
        for times, n in zip(wider, (5, 30), strict=True)
    ]
    said("Precision", "{:.0%} wider on 5 samples and {:.0%} on 30".format(
        *(times - 1 for times in wider)).replace("%", " %"),
        "{:.0%} more than the normal interval on 5 samples and {:.0%} on 30".format(
        *(times - 1 for times in assured)).replace("%", " %"))  # fmt: skip


def test_methods_say_how_far_schoenfelds_formula_is_off() -> None:
    found = KINDS[DesignKind.SURVIVAL].value(10, 0.2, AT)
    said("Time to an event", f"it has {found:.2f}",
         f"log-rank test {log_rank_power(10, 10, math.log(0.2), 0.05):.2f}")  # fmt: skip
