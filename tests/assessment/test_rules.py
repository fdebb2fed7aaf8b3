"""When does a plan's wording break a restriction? A table of sentences.

Every shipped rule is held to its phrases and mentions in tests/agents/test_suggestion.py.
"""

import pytest

from replicalab.assessment import assess, breaks
from replicalab.assessment.plan_in_lab import Violation
from replicalab.models import Protocol
from replicalab.scenarios import PolicyRule
from tests.factories import make_pack, make_policy_rule, make_protocol


def broken(protocol: Protocol, rules: list[PolicyRule]) -> list[Violation]:
    return list(assess(protocol, make_pack(policy_rules=rules)).violations)


@pytest.mark.parametrize(
    "text",
    [
        "live trading", "We start live trading on day 3.", "LIVE Trading", "live-trading",
        "live   trading", "live\u00a0trading", "live\u2011trading", "live\u2013trading",
        "(live trading)", "'live trading'", "live trading!",
        # Not a negation, or not of the phrase
        "not only live trading", "not just live trading", "not merely live trading",
        "no doubt live trading", "no matter what live trading", "knots of live trading",
        "the notable live trading", "live trading, not a backtest", "live trading without delay",
        "No live trading in week one, but live trading in week two.",
    ],
)  # fmt: skip
def test_breaks_finds_the_phrase_in(text: str) -> None:
    assert breaks(text, "live trading")


@pytest.mark.parametrize(
    "text",
    [
        "", "alive trading", "live tradings", "live_trading2", "live paper trading",
        "trading live", "It is live. Trading stays offline.", "It is live, trading stays offline",
        "no 1.5x-levered live trading",  # neither a decimal point nor a hyphen ends a clause
        "no live trading, and never any live trading",
    ],
)  # fmt: skip
def test_breaks_finds_no_phrase_in(text: str) -> None:
    assert not breaks(text, "live trading")


@pytest.mark.parametrize(
    ("text", "phrase", "broken"),
    [
        ("live trading", "live-trading", True),
        ("live trading", " Live  trading ", True),
        ("auf der STRASSE messen", "straße messen", True),
        ("use the solver\u2019s own checker", "use the solver's own checker", True),
        ("use the solver's own checker", "use the solver\u2019s own checker", True),
        # Only words before the phrase negate it.
        ("use the source without sign-out", "use the source without sign-out", True),
        ("never use the source without sign-out", "use the source without sign-out", False),
        ("a - b ... c", "-", False),
        ("a - b ... c", "...", False),
        ("live\u2011trading", "live trading", True),
        ("live\u00a0trading", "Live  trading", True),
        ("auf der Straße messen", "STRASSE MESSEN", True),
        ("\u039f\u03a3 a", "\u03bf\u03c2 A", True),
    ],
)
def test_breaks_folds_text_and_phrase_alike(text: str, phrase: str, broken: bool) -> None:
    assert breaks(text, phrase) is broken
    rule = make_policy_rule(restriction="No.", forbidden_phrases=["in between", phrase])
    violations = assess(make_protocol(rationale=text), make_pack(policy_rules=[rule])).violations
    assert [violation.field for violation in violations] == ["rationale"] * broken


@pytest.mark.parametrize(
    "before",
    [
        "no", "not", "never", "without", "none of it is", "neither", "nor", "nobody may do",
        "nothing involves", "we cannot do", "avoid", "it avoids", "avoiding", "refuse",
        "it refuses", "the lab forbids", "forbidden is", "we prohibit", "we don\u2019t do",
        "this isn't", "historical data instead of", "a backtest rather than",
        "we cannot just start", "No", "no leverage and no", "there is never any kind of",
    ],
)  # fmt: skip
def test_negation_before_the_phrase_clears_it(before: str) -> None:
    assert not breaks(f"{before} live trading", "live trading")


@pytest.mark.parametrize(
    "between",
    [
        ",", ";", ":", "!", "?", ".", "...", " (", ")", " [", "]", "\n", " \u2013 ", "\u2014",
        " -- ", '."', " but", " however", " although", " though", " yet", " then", " instead",
    ],
)  # fmt: skip
def test_negation_ends_with_its_clause(between: str) -> None:
    assert breaks(f"no leverage{between} live trading", "live trading")


def test_violations_once_per_field_in_order() -> None:
    protocol = make_protocol(
        technique="b then a", rationale="a", controls=["a one", "a two"],
        required_equipment=["an A-frame"], required_reagents=["b"],
    )  # fmt: skip
    rules = [
        make_policy_rule(restriction=name, forbidden_phrases=[phrase])
        for name, phrase in (("first", "b"), ("second", "a"))
    ]
    assert broken(protocol, rules) == [
        ("first", "b", "technique"), ("first", "b", "required_reagents"),
        ("second", "a", "technique"), ("second", "a", "rationale"), ("second", "a", "controls"),
        ("second", "a", "required_equipment"),
    ]  # fmt: skip
