"""The recommended plans against every plan, in shipped labs and in thousands of small ones."""

from __future__ import annotations

from typing import Final

import pytest

from replicalab.assessment import Assessment, assess
from replicalab.places import TREE
from replicalab.planner import ORDER, PlanAnalysis, deciding_text, rank
from replicalab.scenarios import EvidenceTier, load_scenario
from tests.planner.brute_force import Place, Tried, ranked, steps, tried
from tests.planner.small_labs import small_lab
from tests.tiers import EVERY_LAB, batches

BATCH: Final = 100


def check_ends(options: PlanAnalysis, every: list[Tried]) -> None:
    """Check the recommended plans of a lab against each plan of it."""
    plan = options.yours.plan
    best: Place = (*options.least.rank,)
    theirs = [ranked(item, plan) for item in (options.yours, options.offered)]
    assert best == min([*theirs, *(entry.rank for entry in every)])
    assert options.least.exact
    worth_running = not best[0] and options.least.after.evidence.tier != EvidenceTier.BELOW_FLOOR
    assert (options.cheapest is not None) == worth_running
    if options.cheapest:
        cheapest = options.cheapest.cost, ranked(options.cheapest, plan)
        alike = [entry for entry in every if entry.rank[:5] == best[:5]]
        assert cheapest == min((entry.credits, entry.rank) for entry in alike)
    assert (options.most_evidence is not None) == options.least.after.feasible
    if options.most_evidence:
        result = options.most_evidence
        assert result.feasible
        assert len(result.broken_wishes) <= best[3]
        assert result.fidelity_loss <= best[4]
        for entry in every:
            if not entry.failing and entry.rank[3] <= best[3] and entry.loss <= best[4]:
                assert shown(result, ranked(result, plan)) <= (entry.evidence, entry.rank)


def shown(plan: Assessment, place: Place) -> tuple[float, Place]:
    return steps(plan.evidence), place


@pytest.mark.parametrize(("study", "lab"), EVERY_LAB)
def test_recommendations_are_best_in_shipped_labs(study: str, lab: str) -> None:
    pack = load_scenario(study, lab)
    plan = pack.reference_protocol
    check_ends(PlanAnalysis(assess(plan, pack)), [*tried(plan, pack)])


@pytest.mark.parametrize("first", batches(BATCH, short=1, long=20))
def test_recommendations_are_best_in_small_labs(first: int) -> None:
    offered = 0
    for seed in range(first, first + BATCH):
        plan, pack = small_lab(seed)
        options, every = PlanAnalysis(assess(plan, pack)), [*tried(plan, pack)]
        for item in every[:: max(1, len(every) // 3)]:
            assert (seed, item.rank) == (seed, ranked(assess(item.plan(), pack), plan))
        check_ends(options, every)
        offered += options.cheapest is not None
    assert offered > BATCH / 10


@pytest.mark.parametrize(("study", "lab"), EVERY_LAB)
def test_passing_study_changes_only_for_the_tier(study: str, lab: str) -> None:
    pack = load_scenario(study, lab)
    options = PlanAnalysis(assess(pack.reference_protocol, pack))
    if options.yours.feasible and options.least.plan != options.yours.plan:
        assert options.least.rank[:2] < rank(options.yours, options.yours.plan)[:2]
    assert options.least.rank <= rank(options.offered, options.yours.plan)


@pytest.mark.parametrize(
    ("study", "lab", "text"),
    [
        ("bio_jq1_myeloma", "medium", "1 more day would cost 1 sample."),
        ("chem_suzuki_ppb", "medium", "1 more day would cost 5 samples."),
        ("psy_ego_depletion", "easy", ""),
        ("chem_suzuki_ppb", "hard", ""),
    ],
)
def test_one_sentence_names_what_decides(study: str, lab: str, text: str) -> None:
    pack = load_scenario(study, lab)
    options = PlanAnalysis(assess(pack.reference_protocol, pack))
    assert deciding_text(options.least.after, options.study, options.judged) == text


@pytest.mark.parametrize("path", ["README.md", "docs/methods.md", "docs/glossary.md"])
def test_order_is_stated_in_the_same_sentence(path: str) -> None:
    assert ORDER in " ".join((TREE / path).read_text(encoding="utf-8").split())
