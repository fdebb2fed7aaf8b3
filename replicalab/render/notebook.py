"""The panels and the data frames of core objects in a notebook."""

from collections.abc import Callable, Iterable
from typing import Any, Final

from replicalab.agents.lab_manager_policy import Offer
from replicalab.assessment import Assessment, assess, assumed_effects
from replicalab.facts import blocks, check_facts, negotiation_facts, record_facts, score_facts
from replicalab.facts.change_facts import needs_panel, revision_panel
from replicalab.facts.comparison_facts import comparison_panel, table
from replicalab.facts.round_facts import ledger_panel, outcome_panel, round_panel
from replicalab.facts.study_facts import lab_panel, paper_panel
from replicalab.negotiation import Negotiation, case, score
from replicalab.negotiation.batch import Batch
from replicalab.planner import Frontier, LeastLoss, PlanAnalysis, Shortfalls
from replicalab.render.html import html, in_notebook
from replicalab.scenarios import Pack, Studies
from replicalab.tables import frame


def html_of(result: object) -> str:
    """Return the panels of an object, or its data frame if no page has a panel for it."""
    if panels := _PANELS.get(type(result)):
        return in_notebook(html(*panels(result)))
    table: str = frame_of(result)._repr_html_()
    return table


def frame_of(result: object) -> Any:
    return _FRAMES[type(result)](result)


def _plan(plan: Assessment) -> Iterable[blocks.Block]:
    yield check_facts.header_panel(plan)
    yield check_facts.check_panel(plan, PlanAnalysis(plan).binding)
    yield check_facts.evidence_panel({check_facts.YOURS: plan})
    yield check_facts.effects_table(assumed_effects(plan.pack.design), {check_facts.YOURS: plan})
    yield check_facts.cost_panel(plan)


def _run(run: Negotiation) -> Iterable[blocks.Block]:
    yield outcome_panel(negotiation_facts.outcome_verdict(run))
    yield from (round_panel(run, at) for at in range(len(run.rounds)))
    yield ledger_panel(run)
    yield score_facts.score_panel(score(run))


_PANELS: Final[dict[type, Callable[[Any], Iterable[blocks.Block]]]] = {
    Assessment: _plan,
    Batch: score_facts.batch_blocks,
    case.Comparison: lambda sides: [comparison_panel(sides)],
    LeastLoss: lambda revised: [revision_panel(revised)],
    Negotiation: _run,
    Offer: lambda revised: [revision_panel(revised)],
    Pack: lambda pack: [paper_panel(pack), lab_panel(assess(pack.reference_protocol, pack))],
    Shortfalls: lambda result: [needs_panel(PlanAnalysis(result.plan))],
}


def _dimensions(plan: Assessment) -> Any:
    binding = PlanAnalysis(plan).binding
    rows = (record_facts.dimension_row(plan, dimension, binding) for dimension in plan.slack)
    return frame(record_facts.DIMENSION, rows)


def _sides(sides: case.Comparison) -> Any:
    (part, what, *names), *lines = table(sides)
    return frame([str(part).lower(), str(what).lower(), *map(str, names)], lines)


_FRAMES: Final[dict[type, Callable[[Any], Any]]] = {
    Assessment: _dimensions,
    Batch: lambda batch: record_facts.results_frame(batch.results),
    case.Comparison: _sides,
    Frontier: lambda best: frame(record_facts.FRONTIER, map(record_facts.frontier_row, best.plans)),
    Studies: lambda result: frame(record_facts.STUDY, map(record_facts.study_row, result)),
}
