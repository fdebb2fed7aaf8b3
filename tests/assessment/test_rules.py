"""When does a plan's wording break a restriction? A table of sentences; every shipped rule."""

from __future__ import annotations

import pytest

from replicalab.assessment import Violation, assess, breaks
from replicalab.models import Protocol
from replicalab.scenarios import Pack, PolicyRule, list_scenarios, load_scenario
from tests.factories import make_pack, make_policy_rule, make_protocol

PACKS = [load_scenario(study.scenario_id) for study in list_scenarios()]
RULES = [(pack, rule) for pack in PACKS for rule in pack.policy_rules]
FORBIDDEN = [(pack, rule, said) for pack, rule in RULES for said in rule.forbidden_phrases]
MENTIONS = [(pack, said) for pack, rule in RULES for said in rule.allowed_mentions]


def _name(value: object) -> str:
    """Return what a shipped case is called: the study, or the words in question."""
    if isinstance(value, Pack):
        return value.scenario_id
    return value.key if isinstance(value, PolicyRule) else str(value)


def broken(protocol: Protocol, rules: list[PolicyRule]) -> list[Violation]:
    """Return what a plan breaks of these rules."""
    return list(assess(protocol, make_pack(policy_rules=rules)).violations)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("live trading", id="alone"),
        pytest.param("We start live trading on day 3.", id="in a sentence"),
        pytest.param("LIVE Trading", id="case"),
        pytest.param("live-trading", id="hyphen is a space"),
        pytest.param("live   trading", id="many spaces"),
        pytest.param("live\u00a0trading", id="no-break space"),
        pytest.param("live\u2011trading", id="no-break hyphen"),
        pytest.param("live\u2013trading", id="dash without spaces is a hyphen"),
        pytest.param("(live trading)", id="brackets"),
        pytest.param("'live trading'", id="quotes"),
        pytest.param("live trading!", id="mark after it"),
    ],
)
def test_breaks_finds_the_phrase_however_it_is_written(text: str) -> None:
    assert breaks(text, "live trading")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("alive trading", id="word begins earlier"),
        pytest.param("live tradings", id="word ends later"),
        pytest.param("live_trading2", id="digit joined on"),
        pytest.param("live paper trading", id="word between"),
        pytest.param("trading live", id="other order"),
        pytest.param("It is live. Trading stays offline.", id="sentences apart"),
        pytest.param("It is live, trading stays offline", id="clauses apart"),
    ],
)
def test_breaks_matches_whole_phrases_within_a_clause(text: str) -> None:
    assert not breaks(text, "live trading")


@pytest.mark.parametrize("phrase", ["live-trading", "Live Trading", " live  trading "])
def test_breaks_reads_the_phrase_as_it_reads_the_text(phrase: str) -> None:
    assert breaks("live trading", phrase)


def test_breaks_compares_letters_as_casefold_does() -> None:
    assert breaks("auf der STRASSE messen", "straße messen")


def test_breaks_reads_curly_apostrophes_as_straight_ones() -> None:
    assert breaks("use the solver\u2019s own checker", "use the solver's own checker")
    assert breaks("use the solver's own checker", "use the solver\u2019s own checker")


@pytest.mark.parametrize(
    "before",
    [
        "no", "not", "never", "without", "none of it is", "neither", "nor", "nobody may do",
        "nothing involves", "we cannot do", "avoid", "it avoids", "avoiding", "refuse",
        "it refuses", "we forbid", "the lab forbids", "forbidden is", "we prohibit",
        "the lab prohibits", "prohibited is", "we don't do", "we don\u2019t do",
        "we can't do", "this isn't",
        "historical data instead of", "a backtest rather than", "we cannot just start",
        "No", "no leverage and no", "there is never any kind of",
    ],
)  # fmt: skip
def test_breaks_is_cleared_by_a_negation_before_the_phrase(before: str) -> None:
    assert not breaks(f"{before} live trading", "live trading")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("not only live trading", id="not only"),
        pytest.param("not just live trading", id="not just"),
        pytest.param("not merely live trading", id="not merely"),
        pytest.param("no doubt live trading", id="no doubt"),
        pytest.param("no matter what live trading", id="no matter"),
        pytest.param("knots of live trading", id="knots"),
        pytest.param("the notable live trading", id="notable"),
        pytest.param("live trading, not a backtest", id="negation after it"),
        pytest.param("live trading without delay", id="negation after it, same clause"),
    ],
)
def test_breaks_is_not_cleared_by_what_is_no_negation_of_it(text: str) -> None:
    assert breaks(text, "live trading")


@pytest.mark.parametrize(
    "between",
    [
        ",", ";", ":", "!", "?", ".", "...", " (", ")", " [", "]", "\n", " \u2013 ", "\u2014",
        " -- ", '."', " but", " however", " although", " though", " yet", " then", " instead",
    ],
)  # fmt: skip
def test_negation_ends_with_its_clause(between: str) -> None:
    assert breaks(f"no leverage{between} live trading", "live trading")


def test_negation_reaches_over_a_decimal_point_and_a_hyphen() -> None:
    assert not breaks("no 1.5x-levered live trading", "live trading")


def test_breaks_finds_a_second_occurrence_after_a_negated_one() -> None:
    assert breaks("No live trading in week one, but live trading in week two.", "live trading")
    assert not breaks("no live trading, and never any live trading", "live trading")


def test_breaks_looks_at_what_stands_before_the_phrase_only() -> None:
    assert breaks("use the source without sign-out", "use the source without sign-out")
    assert not breaks("never use the source without sign-out", "use the source without sign-out")


@pytest.mark.parametrize("phrase", ["-", "..."])
def test_breaks_never_finds_a_phrase_without_words(phrase: str) -> None:
    assert not breaks("a - b ... c", phrase)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("technique", "count beside an open flame"),
        ("rationale", "an open flame keeps the air sterile"),
        ("controls", ["dark control", "open flame control"]),
        ("required_equipment", ["open-flame burner"]),
        ("required_reagents", ["gas for the open flame"]),
    ],
)
def test_violations_name_the_field_in_which_the_phrase_stands(field: str, value: object) -> None:
    rule = make_policy_rule(restriction="No flames.", forbidden_phrases=["open flame"])
    found = broken(make_protocol(**{field: value}), [rule])
    assert found == [Violation("No flames.", "open flame", field)]


def test_violations_name_each_phrase_once_per_field_in_the_order_of_the_rules() -> None:
    protocol = make_protocol(
        technique="b then a", rationale="a", controls=["a one", "a two"], required_reagents=["b"]
    )
    rules = [
        make_policy_rule(restriction="first", forbidden_phrases=["b"]),
        make_policy_rule(restriction="second", forbidden_phrases=["a"]),
    ]
    assert broken(protocol, rules) == [
        ("first", "b", "technique"),
        ("first", "b", "required_reagents"),
        ("second", "a", "technique"),
        ("second", "a", "rationale"),
        ("second", "a", "controls"),
    ]


def test_violations_do_not_join_the_labels_of_a_list() -> None:
    rule = make_policy_rule(forbidden_phrases=["open flame"])
    assert not broken(make_protocol(controls=["kept open", "flame test"]), [rule])


def test_violations_are_none_without_rules() -> None:
    assert broken(make_protocol(technique="open flame"), []) == []


@pytest.mark.parametrize(("pack", "rule", "phrase"), FORBIDDEN, ids=_name)
def test_shipped_forbidden_phrase_breaks_its_rule(
    pack: Pack, rule: PolicyRule, phrase: str
) -> None:
    protocol = make_protocol(rationale=f"We will {phrase}.")
    found = broken(protocol, pack.policy_rules)
    assert Violation(rule.restriction, phrase, "rationale") in found


@pytest.mark.parametrize(("pack", "mention"), MENTIONS, ids=_name)
def test_shipped_mention_passes_every_rule(pack: Pack, mention: str) -> None:
    for text in (mention, f"{mention.capitalize()}.", f"As agreed, {mention}."):
        assert broken(make_protocol(rationale=text), pack.policy_rules) == []


@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.scenario_id)
def test_shipped_reference_protocol_keeps_every_rule(pack: Pack) -> None:
    assert broken(pack.reference_protocol, pack.policy_rules) == []
