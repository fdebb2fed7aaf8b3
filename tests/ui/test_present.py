"""Presenting: the deck and its order, the numbers of its slides, and the page after it."""

from itertools import pairwise, product
from typing import Any, Final
from xml.etree import ElementTree

import pytest
from streamlit.testing.v1 import AppTest

from replicalab import negotiation as core
from replicalab.assessment import Assessment, assess
from replicalab.facts.negotiation_facts import offered_plan
from replicalab.facts.slide_facts import Slide
from replicalab.lexicon import amount_text
from replicalab.models import revise
from replicalab.negotiation.case import Case, play_case
from replicalab.planner import PlanAnalysis
from replicalab.scenarios import EvidenceTier, load_scenario
from replicalab.ui import present
from replicalab.ui.negotiation_page.sessions import RunSession
from replicalab.ui.own_studies import find
from replicalab.ui.workspace import from_query, stories, to_query
from tests.facts.reading import tree
from tests.golden import assert_golden, new_lines
from tests.tiers import EVERY_LAB
from tests.ui.acting import can_press, press, run
from tests.ui.negotiating import round_shown
from tests.ui.reading import heard, page_text, panels
from tests.ui.walking import query_of, visit


def place(app: AppTest) -> str:
    return slide(app).split("\n")[1]


def slide(app: AppTest) -> str:
    pages = (panel.find(".//div[@class='page shown']") for panel in panels(app))
    [page] = [page for page in pages if page is not None]
    return heard(page)


def slides(app: AppTest) -> list[str]:
    texts = [slide(app)]
    while can_press(app, "Next"):
        texts.append(slide(press(app, "Next")))
    return texts


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ({"present": "3", "recording": "zebra"}, "'zebra' is not known"),
        ({"present": "3", "scientist": "person"}, "No plan is on the table yet"),
        ({"present": "3", "samples": "0"}, "sample size of 0"),
        ({"present": "2", "seed": "x"}, "Not everything could be opened"),
        ({"present": "1", "budget": "1200"}, "1,200 credits"),
    ],
    ids=["unknown recording", "before the first round", "no samples", "changed link", "sliders"],
)
def test_presentation_names_missing_parts(query: dict[str, str], text: str) -> None:
    app = visit(study="psy_stroop", **query)
    assert text in page_text(app)


def test_stories_are_presented_to_their_point() -> None:
    decks = {"first visit": slides(visit(present="1"))}
    assert not any("Agreed" in text for text in decks["first visit"][:4]), "it comes after rounds"
    for story in stories():
        app = visit(study="ml_resnet_cifar10")
        app.button(key=story.key).click()
        run(app)
        assert place(app).startswith("1 / ")
        *before, point = decks[story.key] = slides(app)
        assert f"{story.title}. {story.line}" in point
        assert not any(story.title in text for text in before)
        press(app, "Leave")
        if story.page == "Negotiation":
            assert round_shown(app).startswith("Round 1 of")
        assert f"Story: {story.title}. {story.line}" in page_text(app)
        assert "present" not in query_of(app)
    assert_golden(
        "pages/present", new_lines({name: "\n".join(deck) for name, deck in decks.items()})
    )


def test_stories_read_as_pinned_and_survive_as_links() -> None:
    assert_golden(
        "stories#stories", "\n".join(f"{story.title}: {story.line}" for story in stories())
    )
    for story in stories():
        assert from_query(to_query(story.workspace), find) == (story.workspace, [])


def numbered(plan: Assessment, samples: int, days: int) -> Assessment:
    return assess(revise(plan.plan, sample_size=samples, duration_days=days), plan.pack)


def test_halved_sample_needs_one_day_only() -> None:
    case = {story.key: story for story in stories()}["half_the_sample"].workspace.case
    options = PlanAnalysis(assess(case.protocol(find), case.pack(find)))
    yours, minimum = options.yours, options.least.after
    assert options.offered.evidence.tier is EvidenceTier.BELOW_FLOOR
    assert minimum.evidence.number == yours.evidence.number
    # No smaller cut: one mouse fewer also fits, and costs power.
    assert numbered(yours, 23, 28).feasible
    assert numbered(yours, 23, 28).evidence.value < minimum.evidence.value


def test_do_not_run_names_the_most_cases() -> None:
    case = {story.key: story for story in stories()}["do_not_run"].workspace.case
    pack = case.pack(find)
    plan = PlanAnalysis(assess(case.protocol(find), pack)).least.after
    assert (plan.counts.samples, plan.evidence.text) == (437, "share examined 69 %")
    plans = [numbered(plan, size, days) for size in range(438, 634) for days in range(1, 9)]
    assert max(p.evidence.value for p in plans if p.feasible) < plan.evidence.value
    for extra in (2_054, 2_055):
        lab = pack.in_lab(pack.lab.with_means(budget=pack.lab.budget + extra))
        best = PlanAnalysis(assess(pack.reference_protocol, lab)).least.after
        assert (best.evidence.tier is EvidenceTier.MEETS_TARGET) == (extra == 2_055)


PLAYERS: Final = [*product(sorted(core.AUTOMATIC), core.RULED_LAB_MANAGERS)]
MOST_ROWS: Final = 4  # steps listed one by one; of more, each field is a row
Numbers = dict[str, str]  # size, days, credits and evidence of a plan by the row's name


class Deck:
    def __init__(self, study: str, lab: str, *players: Any) -> None:
        pack = load_scenario(study, lab)
        here = PlanAnalysis(assess(pack.reference_protocol, pack))
        case = Case.of(pack, scientist=players[0], lab_manager=players[1])
        negotiation = play_case(here.yours, case)
        assert negotiation is not None
        self.negotiation = negotiation
        self.measure = here.yours.evidence.measure.capitalize()
        self.slides = [*present.slides(here, RunSession(negotiation))]

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
            assert (word in plan.cautions_text) == (word in of_plan)
    assert ("Do not run" in heading) != heading.startswith(("passes Run", "caution Run"))


@pytest.mark.parametrize(("study", "lab"), EVERY_LAB[::4])
def test_slides_agree_with_the_negotiation(study: str, lab: str) -> None:
    for players in PLAYERS:
        deck = Deck(study, lab, *players)
        check_slides_connect(deck)
        check_ledger(deck)
        check_concessions(deck)
        check_decision(deck)
