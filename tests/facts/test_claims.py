"""What pages, slides and documents call best, against every plan of the lab."""

from datetime import date

import pytest

from replicalab.assessment import assess
from replicalab.facts.documents import funding_request
from replicalab.facts.options import difference_text
from replicalab.facts.score import score_verdict
from replicalab.negotiation import AUTOMATIC, Outcome, Score, negotiate, score
from replicalab.negotiation.case import Case
from replicalab.planner import PlanAnalysis
from replicalab.render.markdown import markdown
from replicalab.scenarios import load_scenario
from tests.planner.brute_force import ranked, tried
from tests.ui.pages import IN_EVERY_LAB


@pytest.mark.long
@IN_EVERY_LAB
def test_no_plan_ranks_above_one_called_best(study: str, lab: str) -> None:
    pack = load_scenario(study, lab)
    options = PlanAnalysis(assess(pack.reference_protocol, pack))
    for plan in (options.yours.plan, options.offered.plan, options.least.plan):
        here = PlanAnalysis(assess(plan, pack))
        best = min(place.rank for place in tried(plan, pack))
        assert ranked(here.least.after, plan) <= best
        if "gives up less" in difference_text(here):
            assert ranked(here.offered, plan) <= best
        if "gives up less" in markdown(funding_request(here, on=date(2026, 1, 31))):
            assert ranked(here.yours, plan) <= best


@pytest.mark.long
@IN_EVERY_LAB
def test_run_called_optimal_ends_with_a_best_plan(study: str, lab: str) -> None:
    pack = load_scenario(study, lab)
    protocol = pack.reference_protocol
    best = min(place.rank for place in tried(protocol, pack))
    for scientist in sorted(AUTOMATIC):
        played = negotiate(Case.of(pack, scientist=scientist).setup(pack), pack)
        result = score(played)
        is_best = (
            played.outcome is not Outcome.NO_DEAL
            and played.final_plan is not None
            and ranked(played.final_plan, protocol) <= best
        )
        title = score_verdict(result).title
        if title == "Optimal" and result.plan is not None:
            assert is_best
        assert (result.regret == 0) == is_best or result.plan is None


def test_score_of_a_search_cut_short_claims_less() -> None:
    pack = load_scenario("psy_stroop")
    plan = PlanAnalysis(assess(pack.reference_protocol, pack)).least.after
    assert score_verdict(Score(plan, plan)).title == "Optimal"
    assert score_verdict(Score(plan, plan, exact=False)).title == "Best found"
