"""Presenting: the deck and its order, the way through it, and the page that it leaves as it was."""

from typing import Final

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.assessment import Assessment, assess
from replicalab.models import revise
from replicalab.negotiation import Negotiation, Outcome
from replicalab.planner import PlanAnalysis
from replicalab.scenarios import EvidenceTier
from replicalab.ui.own_studies import find
from replicalab.ui.stories import Story, StoryPage, stories
from replicalab.ui.workspace import from_query, to_query
from tests.golden import assert_golden
from tests.negotiation.playing import acts, by_rule
from tests.ui.acting import can_press, choose_more, labels, press, run
from tests.ui.negotiating import round_shown
from tests.ui.pages import NEGOTIATION, SCENARIOS, TRADE_OFFS
from tests.ui.reading import heard, page_text, panels
from tests.ui.walking import query_of, visit

LAST: Final = 8
"""Claim, plan, three concessions, their sum, the simple rule, decision."""


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


@pytest.mark.parametrize("page", [SCENARIOS, NEGOTIATION, TRADE_OFFS])
def test_presentation_leaves_the_page_unchanged(page: str) -> None:
    app = visit(page, study="psy_stroop", round="2", budget="1200")
    text, query = page_text(app), query_of(app)
    choose_more(app, "Present")
    assert place(app) == f"1 / {LAST}"
    assert not app.get("page_link")
    press(press(app, "Next"), "Leave")
    assert (page_text(app), query_of(app)) == (text, query)
    assert "Leave" not in labels(app)


def test_deck_reads_as_pinned() -> None:
    texts = slides(visit(present="1"))
    assert not any("Agreed" in text for text in texts[:4]), "how it ends comes after every round"
    assert_golden("pages/present#first", "\n\n".join(texts))


def test_slides_go_to_both_ends_only() -> None:
    app = visit(TRADE_OFFS, study="psy_stroop", present="99")
    assert place(app) == f"{LAST} / {LAST}"
    assert place(press(app, "Back")) == f"{LAST - 1} / {LAST}"
    assert not can_press(press(app, "Home"), "Back")
    for key, number in (("PageDown", 2), ("Space", 3), ("Down", 4), ("Up", 3), ("PageUp", 2)):
        assert place(press(app, key)) == f"{number} / {LAST}"
    assert place(press(app, "End")) == f"{LAST} / {LAST}"
    assert not can_press(app, "Next")
    assert query_of(app)["present"] == str(LAST)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ({"present": "3", "recording": "zebra"}, "'zebra' is not known"),
        ({"present": "3", "scientist": "person"}, "no plan is on the table yet"),
        ({"present": "3", "samples": "0"}, "sample size of 0"),
        ({"present": "2", "seed": "x"}, "Not everything could be opened"),
        ({"present": "1", "budget": "1200"}, "1,200 credits"),
    ],
    ids=["unknown recording", "before the first round", "no samples", "changed link", "levers"],
)
def test_presentation_names_missing_parts(query: dict[str, str], text: str) -> None:
    app = visit(study="psy_stroop", **query)
    assert text in page_text(app)


@pytest.mark.parametrize("story", stories(), ids=lambda story: story.key)
def test_story_is_presented_to_its_point(story: Story) -> None:
    app = visit(study="ml_resnet_cifar10")
    app.button(key=story.key).click()
    run(app)
    assert place(app).startswith("1 / ")
    *before, point = slides(app)
    assert f"{story.title}. {story.line}" in point
    assert not any(story.title in text for text in before)
    assert_golden(f"pages/present#{story.key}", "\n\n".join([*before, point]))
    press(app, "Leave")
    if story.page is StoryPage.NEGOTIATION:
        assert round_shown(app).startswith("Round 1 of")
    assert_golden(f"pages/{story.page}#{story.key}", page_text(app))
    assert "present" not in query_of(app)


STORIES: Final = {story.key: story for story in stories()}


def test_stories_read_as_pinned_and_survive_as_links() -> None:
    assert_golden(
        "stories#stories", "\n".join(f"{story.title}: {story.line}" for story in stories())
    )
    for story in stories():
        assert from_query(to_query(story.workspace), find) == (story.workspace, [])


def options_of(key: str) -> PlanAnalysis:
    case = STORIES[key].workspace.case
    return PlanAnalysis(assess(case.protocol(find), case.pack(find)))


def numbered(plan: Assessment, samples: int, days: int) -> Assessment:
    return assess(revise(plan.plan, sample_size=samples, duration_days=days), plan.pack)


def test_halved_sample_needs_one_day_only() -> None:
    story, options = STORIES["half_the_sample"], options_of("half_the_sample")
    yours, minimum = options.yours, options.least.after
    assert story.page is StoryPage.PROTOCOL
    assert yours.failing == ["budget"]
    assert yours.cost - yours.pack.lab.budget == 10
    assert options.offer is not None
    assert [(c.field, c.original, c.revised) for c in options.offer.changes] == [
        ("sample_size", "24", "12")
    ]
    worth = [plan.evidence for plan in (yours, options.offered)]
    assert f"power {worth[0].number} → {worth[1].number}. " in story.line
    assert worth[1].tier is EvidenceTier.BELOW_FLOOR
    assert (minimum.counts.samples, minimum.counts.days, minimum.cost) == (24, 28 - 1, 2_490 - 50)
    assert minimum.evidence.number == worth[0].number
    # No smaller cut: one mouse fewer also fits, and costs power.
    assert numbered(yours, 23, 28).feasible
    assert numbered(yours, 23, 28).evidence.value < minimum.evidence.value
    assert yours.pack.lab.days_left < 36


def negotiation_of(key: str) -> Negotiation:
    story = STORIES[key]
    work = story.workspace
    assert story.page is StoryPage.NEGOTIATION
    assert work.round_number == 0
    return by_rule(
        work.case.pack(find),
        work.case.protocol(find),
        work.case.max_rounds,
        work.case.scientist,
        lab_manager=work.case.lab_manager,
    )


def test_do_not_run_names_the_most_cases() -> None:
    run = negotiation_of("do_not_run")
    offer = run.rounds[0].offer
    assert offer is not None
    assert (offer.after.counts.samples, offer.after.feasible) == (316, True)
    assert offer.after.evidence.tier is EvidenceTier.BELOW_FLOOR
    plan = PlanAnalysis(offer.before).least.after
    assert (plan.counts.samples, plan.evidence.text) == (437, "share examined 69 %")
    plans = [numbered(plan, size, days) for size in range(438, 634) for days in range(1, 9)]
    assert max(p.evidence.value for p in plans if p.feasible) < plan.evidence.value
    assert (acts(run)[-1], run.outcome) == ("leaves", Outcome.NO_DEAL)
    budget = run.pack.lab.budget
    for extra in (2_054, 2_055):
        lab = run.pack.in_lab(run.pack.lab.with_means(budget=budget + extra))
        best = PlanAnalysis(assess(run.pack.reference_protocol, lab)).least.after
        assert (best.evidence.tier is EvidenceTier.MEETS_TARGET) == (extra == 2_055)
    assert "2,055 more credits" in run.rounds[-1].reason
