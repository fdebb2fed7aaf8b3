"""The funding request: headline, cuts, cheaper plans and page size."""

import re
from typing import Any, TypeGuard

import pytest
from hypothesis import given

from replicalab.assessment import assess
from replicalab.facts.blocks import Block, Sentence, Table
from replicalab.facts.document_facts import funding_request, headline, plans_of, reference_of
from replicalab.features.office import pdf
from replicalab.models import revise
from replicalab.planner import PlanAnalysis, rank
from replicalab.render.markdown import markdown
from replicalab.scenarios import Difficulty, load_scenario
from tests.features.test_office_pdf import needs_weasyprint
from tests.golden import assert_golden, new_lines
from tests.reports.making import DAY, pages_in, strangers, table_in, text_of, work
from tests.strategies import itemised_protocols, studied_packs
from tests.tiers import EVERY_LAB, FEW_LABS, one_in


def test_funding_request_reads_as_pinned() -> None:
    plans = {"eco_reef_fish": "hard", "math_pythagorean": "medium"}
    texts = {
        study: markdown(work(study, lab, "reference").funding()) for study, lab in plans.items()
    }
    assert_golden("report#funding", new_lines(texts))


@given(itemised_protocols(), studied_packs())
def test_headline_has_twelve_words_at_most(plan: Any, pack: Any) -> None:
    assert len(headline(PlanAnalysis(assess(plan, pack))).split()) <= 12


@pytest.mark.parametrize(("study", "lab"), EVERY_LAB)
def test_cuts_add_up_to_least_loss_plan(study: str, lab: str) -> None:
    options = work(study, lab, "reference").options
    yours, plan = options.yours, options.least.after
    document = funding_request(options, on=DAY)
    if not options.least.changes or plan.evidence.void_reason:
        assert not [item for item in document.tables if item.caption.startswith("Changes that fit")]
        return
    result = table_in(document, "Changes that fit")
    names = result.names
    costs = [row[names.index("Costs")].number for row in result.rows]
    assert (costs[0], costs[-1]) == (yours.cost, plan.cost)
    assert sum(saved(result)) == pytest.approx(yours.cost - plan.cost)
    visible = result.rows[-1][names.index("Evidence")].text.removesuffix(", not feasible")
    assert visible.split(", too few")[0] == plan.evidence.text
    given_up = [row[names.index("Gives up")].text for row in result.rows[1:]]
    lost = [re.match(r"(\d+) of fidelity", text) for text in given_up]
    assert sum(int(match[1]) for match in lost if match) == plan.fidelity_loss - yours.fidelity_loss
    wishes = len(plan.broken_wishes) - len(yours.broken_wishes)
    assert sum(text.count("' should be ") for text in given_up) >= wishes


@pytest.mark.parametrize(("study", "lab"), EVERY_LAB)
def test_less_money_never_shows_more_than_headline(study: str, lab: str) -> None:
    for which in ("reference", "offered", "least"):
        options = work(study, lab, which).options
        title = headline(options)
        evidence, scale = options.yours.evidence, options.yours.evidence.row.scale
        if "cannot reach" in title:
            continue  # it names no evidence of a plan
        percent = 100 if "%" in evidence.text else 1
        number = re.findall(r"\d+\.?\d*", title)[-1]
        limit = scale.worst if "nothing" in title else float(number.rstrip(".")) / percent
        for row in table_in(funding_request(options, on=DAY), "The least-loss plans for less").rows:
            text = re.findall(r"±?(\d[\d.]*)", row[4].text)
            value = float(text[0]) / percent if text else scale.worst
            assert scale.reaches(limit, value), (which, title, row)


@pytest.mark.parametrize(("study", "lab"), EVERY_LAB)
def test_failing_plan_is_marked_in_every_document(study: str, lab: str) -> None:
    for which in ("reference", "offered", "least"):
        it = work(study, lab, which)
        yours = it.options.yours
        documents = it.brief(), it.report(), it.funding()
        for document in documents:
            verdict = next(b for p in document.parts for b in p.blocks if _is_verdict(b))
            assert verdict.text.startswith("Not feasible") == (not yours.feasible)
        plans = plans_of(it.options, reference_of(yours))
        for document in documents[:2]:
            rows = {row[0].text: row for result in document.tables for row in result.rows}
            for name, plan in plans.items():
                assert ("not feasible" in rows[name][3].text) == (not plan.feasible)


def _is_verdict(block: Block) -> TypeGuard[Sentence]:
    return isinstance(block, Sentence) and block.status is not None


def saved(found: Table) -> list[float]:
    texts = [row[found.names.index("Saves")].text for row in found.rows[1:]]
    return [float(text.replace(",", "").replace("\u2212", "-")) for text in texts]


def test_less_money_buys_first_plan_in_order() -> None:
    # Every sample size of the one wording that is offered there, by hand.
    pack = load_scenario("math_pythagorean", Difficulty.MEDIUM)
    options = PlanAnalysis(assess(pack.reference_protocol, pack))
    result = table_in(funding_request(options, on=DAY), "The least-loss plans for less than")
    for row in result.rows:
        limit, costs = (float(row[at].text.replace(",", "")) for at in (1, 3))
        assert costs <= limit
        existing = pack.in_lab(pack.lab.with_means(budget=limit))
        best = min(_tried(existing), key=lambda plan: rank(plan, pack.reference_protocol))
        assert (row[2].text, row[4].text) == (best.size_text, best.evidence.text)


def _tried(pack: Any) -> list[Any]:
    plan = PlanAnalysis(assess(pack.reference_protocol, pack)).least.after
    return [
        assess(revise(plan.plan, sample_size=samples, duration_days=days), pack)
        for days in range(1, pack.lab.days_left + 1)
        for samples in range(1, days * 100 + 1)
    ]


@needs_weasyprint
@pytest.mark.parametrize(("study", "lab"), FEW_LABS)
def test_funding_request_is_one_page_with_headline(study: str, lab: Difficulty) -> None:
    document = work(study, lab.value, "reference").funding()
    data = pdf(document, "letter")
    assert pages_in(data) == 1
    text = headline(work(study, lab.value, "reference").options)
    assert text.replace(" ", "") in text_of(data).replace(" ", "")  # a line may break at one


@needs_weasyprint
@pytest.mark.parametrize("which", one_in(2, ["run", "study"]))
def test_hostile_funding_request_is_one_page(which: str) -> None:
    assert pages_in(pdf(strangers()[which].funding(), "letter")) == 1
