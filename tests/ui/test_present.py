"""Presenting: the deck and its order, the way through it, and the page that it leaves as it was."""

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.assessment import Assessment, assess
from replicalab.models import revise
from replicalab.planner import PlanAnalysis
from replicalab.scenarios import EvidenceTier
from replicalab.ui.own_studies import find
from replicalab.ui.stories import Story, stories
from replicalab.ui.workspace import from_query, to_query
from tests.golden import assert_golden
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


def test_deck_reads_as_pinned() -> None:
    texts = slides(visit(present="1"))
    assert not any("Agreed" in text for text in texts[:4]), "how it ends comes after every round"
    assert_golden("pages/present#first", "\n\n".join(texts))


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
    if story.page == "Negotiation":
        assert round_shown(app).startswith("Round 1 of")
    assert_golden(f"pages/{story.page.lower()}#{story.key}", page_text(app))
    assert "present" not in query_of(app)


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
