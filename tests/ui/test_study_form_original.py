"""The form asks for the original in the ways in which people have it, and shows what follows."""

from __future__ import annotations

import pytest

from replicalab.designs import KINDS
from tests.ui.acting import pick, press, run
from tests.ui.reading import alerts, said
from tests.ui.test_study_form import ASSUMPTIONS, COMPARISON, at, form, study_of, type_value

WAY = "The original’s effect, as it was reported"


def test_original_by_its_t_gives_the_effects_to_plan_with() -> None:
    app = pick(form(part=ASSUMPTIONS), WAY, "t and n of both groups")
    for label, value in (("Reported t", 2.2), ("n, group 1", 16), ("n, group 2", 16)):
        type_value(app, label, value)
    # d = 2.2 √(2/16); a t of 2.2 at 30 degrees of freedom has p = 0.036.
    assert "Cohen's d 0.778, from t = 2.2, n = 16 and 16" in said(app)
    assert "p = 0.036" in said(app)
    assert "safeguard 0.462" in said(app)
    original = study_of(app).design.original
    assert original is not None
    assert (original.numbers, original.n1, original.n2) == ({"t": 2.2}, 16, 16)


def test_original_by_its_interval_and_taken_away_again() -> None:
    app = pick(form(part=ASSUMPTIONS), WAY, "Cohen's d")
    for label, value in (("Cohen's d", 0.5), ("Interval from", 0.6), ("to", 0.9)):
        type_value(app, label, value)
    assert "does not hold the effect of 0.5" in " ".join(alert.text for alert in alerts(app))
    type_value(app, "Interval from", 0.1)
    original = study_of(app).design.original
    assert original is not None
    assert (original.effect, original.low, original.high) == (0.5, 0.1, 0.9)
    app = pick(at(app, ASSUMPTIONS), WAY, "not given")
    assert study_of(app).design.original is None


@pytest.mark.parametrize("kind", [kind for kind, row in KINDS.items() if row.effect])
def test_original_of_every_kind_is_asked_in_every_way(kind: str) -> None:
    app = form(part=COMPARISON)
    press(app, KINDS[kind].title)
    at(app, ASSUMPTIONS)
    counts = {"n", "n1", "n2", "events", "samples"}
    ways = next(box for box in app.selectbox if box.label == WAY).options
    by_numbers = {
        frozenset(number.name for number in source.asked if number.name not in counts): source
        for source in KINDS[kind].sources
    }
    assert sorted(ways[2:]) == sorted(source.label for source in by_numbers.values())
    for source in by_numbers.values():
        pick(app, WAY, source.label)
        shown = [each.label for each in run(app).number_input]
        asked = {number.label for number in source.asked if number.name not in counts}
        assert asked <= {*shown}
        assert not app.exception
