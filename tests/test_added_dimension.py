"""A dimension that is registered here alone is checked, repaired, searched for and shown."""

from math import ceil
from typing import Final

import pytest

from replicalab.agents import check_feasibility, suggest_alternative
from replicalab.assessment import DIMENSION_ROWS, DimensionRow, LabLimit, assess
from replicalab.cli import main
from replicalab.facts.region_facts import limit_labels
from replicalab.models import Protocol
from replicalab.planner import PlanAnalysis, plan_to_draw
from replicalab.planner.region import region
from replicalab.scenarios import Pack, load_scenario
from tests.planner.brute_force import days_of, ranked
from tests.planner.small_labs import small_lab
from tests.ui.pages import PROTOCOL
from tests.ui.reading import dimension, page_text
from tests.ui.walking import visit

PLACES: Final = 3  # of each staff unit


STORAGE: Final = DimensionRow(
    key="storage",
    noun="place",
    reason="The plan fills {used} places; the lab has {limit}.",
    details=lambda plan: [{"used": plan.counts.samples, "limit": PLACES * plan.pack.lab.staff}],
    lab_limit=LabLimit(
        need=lambda counts, _: counts.samples,
        has=lambda lab: PLACES * lab.staff,
        grant=lambda _, places: {"staff": ceil(places / PLACES)},
        smaller=("sample_size",),
        halved=lambda lacking, _: f"{lacking} places are missing",
    ),
    over="too many",
)
STUDY: Final = "bio_jq1_myeloma"


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DIMENSION_ROWS, STORAGE.key, STORAGE)


@pytest.fixture
def case() -> tuple[Protocol, Pack]:
    pack = load_scenario(STUDY, "easy")
    assert pack.reference_protocol.sample_size > PLACES * pack.lab.staff
    return pack.reference_protocol, pack


def test_check_reads_the_registry(case: tuple[Protocol, Pack]) -> None:
    plan = assess(*case)
    limit = PLACES * plan.pack.lab.staff
    assert plan.failing == plan.causes == ["storage"]
    assert plan.slack["storage"].slack == limit - plan.counts.samples
    [reason] = plan.reasons["storage"]
    assert reason == f"The plan fills {plan.counts.samples} places; the lab has {limit}."
    assert check_feasibility(*case).feasible  # the document's seven


def test_lab_manager_halves_the_sample(case: tuple[Protocol, Pack]) -> None:
    plan, pack = case
    suggestion = suggest_alternative(plan, check_feasibility(plan, pack), pack)
    assert suggestion is not None
    [change] = suggestion.applied_changes
    assert (change.field, suggestion.improved) == ("sample_size", True)
    assert "places are missing" in change.reason
    assert assess(suggestion.revised_protocol, pack).feasible


def test_planner_keeps_the_limit(case: tuple[Protocol, Pack]) -> None:
    options = PlanAnalysis(assess(*case))
    samples, limit = options.yours.counts.samples, PLACES * options.yours.pack.lab.staff
    assert options.least.after.feasible
    assert options.least.after.counts.samples == limit
    assert options.repairs["storage"].after.counts.samples == limit
    [ask] = options.asks.run.asks
    assert (ask.dimension, ask.needs, ask.text) == (
        "storage",
        samples,
        f"{samples - limit} more places",
    )
    assert options.asks.run.possible
    assert max(plan.samples for plan in options.frontier.plans) <= limit
    drawn = region(plan_to_draw(options), [options.yours])
    assert drawn.most_feasible.max() == limit
    assert drawn.lines["storage"].max() == limit
    assert limit_labels(options.yours.pack)["storage"] == f"{limit} places"


@pytest.mark.parametrize("seed", range(12))
def test_least_loss_is_the_first_of_all(seed: int) -> None:
    # Against every number of samples and days of each wording that the planner knows.
    plan, pack = small_lab(seed)
    options = PlanAnalysis(assess(plan, pack))
    result = ranked(options.least.after, plan)
    for variant in options.variants.listed:
        worded = variant.applied_to(plan)
        for samples in range(1, 20):
            for days in days_of(pack, plan):
                sized = worded.model_copy(update={"sample_size": samples, "duration_days": days})
                assert result <= ranked(assess(sized, pack), plan), (samples, days)


def test_page_shows_the_dimension() -> None:
    app = visit(PROTOCOL, study=STUDY, lab="easy")
    assert dimension(app, "Storage")
    assert "storage" in page_text(app)


def test_command_fails_by_the_dimension(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", STUDY, "--lab", "easy"]) == 1
    assert "Storage" in capsys.readouterr().out
