"""The slides of a deck agree with each other and with the negotiation."""

from itertools import pairwise, product
from typing import Any, Final
from xml.etree import ElementTree

from replicalab import negotiation as core
from replicalab.assessment import assess, cautions_text
from replicalab.facts.negotiation import offered_plan
from replicalab.facts.present import Slide
from replicalab.lexicon import amount_text
from replicalab.negotiation.case import Case, negotiated
from replicalab.planner import PlanAnalysis
from replicalab.scenarios import load_scenario
from replicalab.ui.negotiation.table import RunSession
from replicalab.ui.present import slides
from tests.facts.reading import tree
from tests.ui.pages import IN_EVERY_LAB
from tests.ui.reading import heard

PLAYERS: Final = [*product(sorted(core.AUTOMATIC), core.RULED_LAB_MANAGERS)]
MOST_ROWS: Final = 4  # steps listed one by one; of more, each field is a row
Numbers = dict[str, str]  # size, days, credits and evidence of a plan by the row's name


class Deck:
    def __init__(self, study: str, lab: str, *players: Any) -> None:
        pack = load_scenario(study, lab)
        here = PlanAnalysis(assess(pack.reference_protocol, pack))
        case = Case.of(pack, scientist=players[0], lab_manager=players[1])
        negotiation = negotiated(here.yours, case)
        assert negotiation is not None
        self.negotiation = negotiation
        self.measure = here.yours.evidence.measure.capitalize()
        self.slides = [*slides(here, RunSession(negotiation))]

    def of(self, kind: Slide) -> list[ElementTree.Element]:
        return [tree(item.panel) for item in self.slides if item.slide is kind]

    def path(self) -> list[tuple[Numbers, Numbers]]:
        return [*map(moved, self.of(Slide.CONCESSION))]


def moved(panel: ElementTree.Element) -> tuple[Numbers, Numbers]:
    tables = panel.findall(".//table[@class='stands']")
    rows = [[heard(cell) for cell in row] for table in tables for row in table.iter("tr")][1:]
    both: tuple[Numbers, Numbers] = ({}, {})
    for name, value, *_ in rows:
        was, _, now = value.rpartition(" → ")
        both[0][name], both[1][name] = was or now, now
    return both


def number(text: str) -> float:
    return float(text.replace(",", "").replace("−", "-").replace("±", ""))


def check_slides_connect(deck: Deck) -> None:
    [plan] = deck.of(Slide.PLAN)
    for (_, after), (before, _) in pairwise([({}, moved(plan)[1]), *deck.path()]):
        assert after == before


def check_ledger(deck: Deck) -> None:
    for panel in deck.of(Slide.LEDGER):
        *rows, total = [[heard(cell) for cell in row] for row in panel.iter("tr")][1:]
        first, last = deck.path()[0][0], deck.path()[-1][1]
        assert sum(number(row[1]) for row in rows) == number(total[1])
        assert number(total[1]) == number(last["Credits"]) - number(first["Credits"])
        ends = [first[deck.measure], last[deck.measure]]
        assert total[3] == ("unchanged" if ends[0] == ends[1] else " → ".join(ends))
        moves = [-item.step.credits_saved for item in core.concession_steps(deck.negotiation)]
        assert len(moves) > MOST_ROWS or [row[1] for row in rows] == [*map(_signed, moves)]


def _signed(moved: float) -> str:
    return f"{'−' if moved < 0 else '+' if moved else '±'}{abs(moved):,.0f}"


def check_concessions(deck: Deck) -> None:
    rounds = deck.negotiation.rounds
    plans = [done.plan for done in rounds if done.plan]
    changed = [now for was, now in pairwise(plans) if was.plan != now.plan]
    elements = deck.of(Slide.CONCESSION)
    assert len(elements) == len(changed)
    for panel, plan in zip(elements, changed, strict=True):
        done = next(done for done in rounds if done.plan is plan)
        offer, text = offered_plan(done), heard(panel)
        assert ("accepts" in text) == plan.feasible
        assert offer is None or f"{amount_text(offer.counts.samples)} " in text


def check_decision(deck: Deck) -> None:
    [decision] = deck.of(Slide.DECISION)
    text, heading = heard(decision), heard(decision.findall(".//h1")[0])
    agreed = deck.negotiation.outcome is core.Outcome.AGREED
    assert ("Agreed in round" in text) == agreed
    if agreed:
        plan = deck.negotiation.final_plan
        assert plan is not None
        assert f"{amount_text(plan.cost)} credits" in heading
        assert f"in {plan.counts.days} day" in heading
        assert plan.evidence.number in text
        of_plan = text.lower().partition("to do more")[0]  # then another plan's cautions may follow
        for word in ("breaks", "lacks"):
            assert (word in cautions_text(plan)) == (word in of_plan)
    assert ("Do not run" in heading) != heading.startswith(("passes Run", "caution Run"))


@IN_EVERY_LAB
def test_slides_agree_with_the_negotiation(study: str, lab: str) -> None:
    for players in PLAYERS:
        deck = Deck(study, lab, *players)
        check_slides_connect(deck)
        check_ledger(deck)
        check_concessions(deck)
        check_decision(deck)
