"""Sentences and panels of a negotiation: outcome, rounds, concessions and rules."""

import re
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.facts import round_facts
from replicalab.facts.blocks import Block, Status
from replicalab.facts.negotiation_facts import (
    OUTCOME_TITLES,
    answer_rule,
    answer_verdict,
    outcome_verdict,
    round_caption,
    round_summary,
    signed_credits,
    step_changes,
    turn_title,
)
from replicalab.models import Protocol, revise
from replicalab.negotiation import LabManagerKind, Negotiation, Outcome, ScientistKind, ledger
from replicalab.scenarios import Pack, load_scenario
from tests.facts.reading import tree
from tests.golden import assert_golden, new_lines
from tests.negotiation.playing import (
    ACCEPT,
    ENDS,
    MEDIUM,
    PLAN,
    RULED,
    SHORT,
    STUCK,
    ask,
    by_person,
    by_rule,
    propose,
    revise_to,
)
from tests.strategies import openings, studied_packs
from tests.ui.reading import bars_in, heard

BASELINE, AWARE = ScientistKind.BASELINE, ScientistKind.DIRECT
REFERENCE, LEAST = LabManagerKind.REFERENCE, LabManagerKind.LEAST_LOSS
SHELF: Final = [
    ("fin_momentum", "easy", BASELINE, REFERENCE, 5),
    ("fin_momentum", "medium", BASELINE, REFERENCE, 5),
    ("fin_momentum", "medium", BASELINE, REFERENCE, 2),
    ("fin_momentum", "medium", AWARE, REFERENCE, 5),
    ("fin_momentum", "hard", AWARE, LEAST, 5),
    ("math_four_colour", "hard", BASELINE, REFERENCE, 5),
    ("math_four_colour", "medium", AWARE, REFERENCE, 5),
    ("psy_stroop", "medium", AWARE, REFERENCE, 5),
    ("bio_jq1_myeloma", "hard", BASELINE, REFERENCE, 5),
    ("phys_millikan", "medium", BASELINE, REFERENCE, 5),
]
MOVES: Final = (
    {"sample_size": 20},
    {"sample_size": 30, "duration_days": 6},
    {"sample_size": 2000, "rationale": "Another."},
    {"duration_days": 4, "technique": "one; two", "controls": []},
)
BY_HAND: Final = {
    **{name: case.played() for name, case in ENDS.items()},
    "evidence is lost and returns": by_person(
        STUCK, propose(PLAN), *map(revise_to, (SHORT, SHORT, PLAN)), max_rounds=9
    ),
    "every kind of move": by_person(
        STUCK, propose(PLAN), *(revise_to(revise(PLAN, **move)) for move in MOVES), max_rounds=9
    ),
}


def on_the_shelf(
    study: str, lab: str, scientist: ScientistKind, manager: LabManagerKind, most: int
) -> Negotiation:
    pack = load_scenario(study, lab)
    return by_rule(pack, pack.reference_protocol, most, scientist, manager)


def sentences(negotiation: Negotiation) -> str:
    verdict = outcome_verdict(negotiation)
    lines = [f"[{verdict.status}] {verdict.title}", verdict.text]
    for at, done in enumerate(negotiation.rounds):
        answer = answer_verdict(done)
        meant = f"[{answer.status}] {answer.title}. {answer.text}" if answer else "no answer"
        lines += [round_caption(negotiation, at), f"{turn_title(done)}: {round_summary(done)}"]
        lines += [meant, answer_rule(done)]
    lines += [
        f"{concession.round_number + 1} {concession.who}: {step_changes(concession.step)}; "
        f"{signed_credits(concession.step)} credits, {signed_credits(concession.total)} in all"
        for concession in ledger(negotiation)
    ]
    return "\n".join(lines)


def test_sentences_on_negotiations() -> None:
    played = {" ".join(map(str, place)): on_the_shelf(*place) for place in SHELF} | BY_HAND
    texts = {name: sentences(negotiation) for name, negotiation in played.items()}
    assert_golden("negotiation#rounds", new_lines(texts))


@given(studied_packs(), openings(), st.integers(1, 5))
def test_verdict_passes_only_feasible_plans(
    pack: Pack, opening: Protocol | None, most: int
) -> None:
    negotiation = by_rule(pack, opening, most)
    verdict = outcome_verdict(negotiation)
    assert negotiation.outcome is not None
    assert verdict.text.startswith(OUTCOME_TITLES[negotiation.outcome])
    plan = negotiation.final_plan
    assert plan is not None
    spotless = not plan.broken_wishes and not plan.dropped
    agreed = negotiation.outcome is Outcome.AGREED
    assert (verdict.status is Status.PASS) is (agreed and spotless)
    assert verdict.status is not Status.PASS or plan.feasible
    for at in range(len(negotiation.rounds)):
        caption = round_caption(negotiation, at)
        assert caption.startswith(f"Round {at + 1}: ")
        assert caption.endswith(".")
        assert not re.search("  |None", caption)


PROPOSED: Final = MEDIUM.reference_protocol


def bars(panel: Block) -> dict[str, str]:
    return {
        heard(row[0]): bar.attrib["style"].rpartition(":")[2]
        for row in tree(panel).iter("tr")
        for bar in bars_in(row)
    }


ASKED: Final = by_person(MEDIUM, propose(PROPOSED), ask("Which days? And the budget?"))
STAYING: Final = by_person(
    MEDIUM, propose(PROPOSED), *[revise_to(revise(PROPOSED, duration_days=7))] * 2
)
WORDED: Final = by_person(
    MEDIUM, propose(PROPOSED), revise_to(revise(PROPOSED, rationale="Put otherwise."))
)
OVER: Final = by_person(MEDIUM, propose(PROPOSED), ACCEPT)
FORKS: Final = [*zip(RULED.rounds[:2], OVER.rounds, strict=True), (RULED.rounds[2], None)]
PANELS: Final[dict[str, Block]] = {
    "an answer in full": round_facts.round_panel(RULED, 0, reworded="Other <b>words</b>."),
    "a round": round_facts.round_panel(RULED, 1),
    "a question": round_facts.round_panel(ASKED, 1),
    "one number moves": round_facts.round_panel(STAYING, 1),
    "nothing moves": round_facts.round_panel(STAYING, 2),
    "no answer and no plan": round_facts.round_panel(by_person(MEDIUM, None), 0),
    "the rounds": round_facts.rounds_panel(by_person(MEDIUM, ask("Days?"), propose(PROPOSED)), 1),
    "the ledger": round_facts.ledger_panel(RULED),
    "a ledger of no amount": round_facts.ledger_panel(WORDED),
    "a fork that is over": round_facts.forks_panel(FORKS, 1),
}


def test_panels_of_a_negotiation() -> None:
    texts = {name: heard(tree(panel)) for name, panel in PANELS.items()}
    assert_golden("negotiation#panels", new_lines(texts))


def test_bars_of_a_round_show_the_use() -> None:
    plan = RULED.rounds[1].plan
    assert plan is not None
    assert plan.evidence.value == pytest.approx(0.47, abs=0.005)
    ends = bars(round_facts.round_panel(RULED, 1))
    assert ends["Days"] == "1.000", "7 of 6 days"
    assert ends["Credits"] == f"{2900 / 3700:.3f}"
    assert ends["Power"] == f"{plan.evidence.value:.3f}"


@given(studied_packs(), openings())
def test_panels_are_well_formed(pack: Pack, opening: Protocol | None) -> None:
    talks: Negotiation = by_rule(pack, opening, scientist=ScientistKind.DIRECT)
    panels: list[Block] = [
        *(round_facts.round_panel(talks, at) for at in range(len(talks.rounds))),
        round_facts.rounds_panel(talks, 0),
        round_facts.ledger_panel(talks),
        round_facts.outcome_panel(outcome_verdict(talks)),
    ]
    assert all(heard(tree(panel)) for panel in panels)
