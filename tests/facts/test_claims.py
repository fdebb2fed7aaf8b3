"""What pages, slides and documents call best, against every plan of the lab."""

from datetime import date

import pytest

from replicalab.assessment import assess
from replicalab.facts.change_facts import no_gain_text
from replicalab.facts.document_facts import funding_request
from replicalab.facts.score_facts import score_verdict
from replicalab.negotiation import AUTOMATIC, Outcome, Score, negotiate, score
from replicalab.negotiation.case import Case
from replicalab.planner import PlanAnalysis
from replicalab.render.markdown import markdown
from replicalab.scenarios import Pack, load_scenario
from tests.planner.brute_force import Place, ranked, tried
from tests.ui.pages import IN_EVERY_LAB


@pytest.mark.long
@IN_EVERY_LAB
def test_no_plan_ranks_above_one_called_best(study: str, lab: str) -> None:
    pack = load_scenario(study, lab)
    options = PlanAnalysis(assess(pack.reference_protocol, pack))
    plans = (options.yours.plan, options.offered.plan, options.least.plan)
    for step, plan in enumerate(plans):
        if plan in plans[:step]:
            continue
        here = PlanAnalysis(assess(plan, pack))
        best = min(place.rank for place in tried(plan, pack))
        if not step:
            _assert_optimal_runs_end_best(pack, best)
        assert ranked(here.least.after, plan) <= best
        if "exists for this lab" in no_gain_text(here):
            assert ranked(here.offered, plan) <= best
        if "gives up less" in markdown(funding_request(here, on=date(2026, 1, 31))):
            assert ranked(here.yours, plan) <= best


def _assert_optimal_runs_end_best(pack: Pack, best: Place) -> None:
    protocol = pack.reference_protocol
    for scientist in sorted(AUTOMATIC):
        played = negotiate(Case.of(pack, scientist=scientist).setup(pack), pack)
        result = score(played)
        is_best = (
            played.outcome is not Outcome.NO_DEAL
            and played.final_plan is not None
            and ranked(played.final_plan, protocol) <= best
        )
        if score_verdict(result).title == "Optimal" and result.plan is not None:
            assert is_best
        assert (result.regret == 0) == is_best or result.plan is None


def test_score_of_a_search_cut_short_claims_less() -> None:
    pack = load_scenario("psy_stroop")
    plan = PlanAnalysis(assess(pack.reference_protocol, pack)).least.after
    assert score_verdict(Score(plan, plan)).title == "Optimal"
    assert score_verdict(Score(plan, plan, exact=False)).title == "Best found"
